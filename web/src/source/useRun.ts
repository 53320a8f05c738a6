/** Loads a run as long as a page shows it. */
import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { RunLoader, type LoadState } from "@/run/load";
import type { RunModel } from "@/run/model";
import { remoteRun } from "@/run/remote";

export interface LoadedRun {
  /** `null` until the first page has come. */
  readonly model: RunModel | null;
  readonly state: LoadState;
  readonly error: unknown;
  /** Load what explains a tick. */
  readonly explain: (at: number) => void;
  /** Load the run anew. */
  readonly retry: () => void;
}

const nothing = (): void => undefined;

export function useRun(runId: string): LoadedRun {
  const [attempt, setAttempt] = useState(0);
  const [loader, setLoader] = useState<RunLoader | null>(null);
  useEffect(() => {
    const made = new RunLoader(remoteRun(runId));
    setLoader(made); // eslint-disable-line react-hooks/set-state-in-effect -- a loader is closed with its effect, and cannot be started again
    void made.start();
    return () => made.close();
  }, [runId, attempt]);
  const subscribe = useCallback((tell: () => void) => loader?.subscribe(tell) ?? nothing, [loader]);
  const model = useSyncExternalStore(subscribe, () => loader?.model ?? null);
  const state = useSyncExternalStore(subscribe, () => loader?.state ?? "loading");
  return {
    model,
    state,
    error: loader?.error ?? null,
    explain: useCallback((at: number) => loader?.explain(at), [loader]),
    retry: useCallback(() => setAttempt((count) => count + 1), []),
  };
}
