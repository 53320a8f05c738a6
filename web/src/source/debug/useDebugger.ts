/**
 * How a run stands for the debugger, and what an operator can tell it.
 *
 * A run is paused after a tick, so the service is asked after ticks have come, and after each command; never in between.
 * A paused run goes on by itself when its lease ends; the lease is renewed as long as the page is seen.
 */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { api, unwrap } from "@/api/client";
import type { Schemas } from "@/api/types";
import { toast } from "@/parts/Toast";

export type DebugState = Schemas["DebugBody"];
export type Command = Schemas["DebugSimple"] | Schemas["DebugSet"] | Schemas["DebugForce"];

export interface Debugger {
  /** `undefined` until it is known, and where runs cannot be debugged. */
  readonly state: DebugState | undefined;
  readonly isPaused: boolean;
  /** The last command is on its way. */
  readonly isBusy: boolean;
  /** Why the last command was refused. */
  readonly error: string | null;
  readonly send: (command: Command, onDone?: () => void) => void;
}

/** After a tick has come: at once, and again for a worker that is slow to pause it. */
const ASKED_AFTER_MS = [150, 1000];

export function useDebugger(runId: string, lastTick: number, isEnabled: boolean): Debugger {
  const queries = useQueryClient();
  const params = { path: { run_id: runId } };
  const { data: state } = useQuery({
    queryKey: ["debug", runId],
    queryFn: ({ signal }) => unwrap(api.GET("/api/runs/{run_id}/debug", { params, signal })),
    enabled: isEnabled,
  });
  const { mutate, isPending, error } = useMutation({
    mutationFn: (body: Command) => unwrap(api.POST("/api/runs/{run_id}/debug", { params, body })),
    onSuccess: (body) => queries.setQueryData(["debug", runId], body),
    onError: (problem) => toast(problem.message),
  });

  useEffect(() => {
    if (!isEnabled) return;
    const timers = ASKED_AFTER_MS.map((wait) =>
      setTimeout(() => void queries.invalidateQueries({ queryKey: ["debug", runId] }), wait),
    );
    return () => timers.forEach(clearTimeout);
  }, [queries, runId, lastTick, isEnabled]);

  const isPaused = isEnabled && state?.state === "paused";
  const leaseS = isPaused ? state.lease_s : null;
  const resumesAt = isPaused ? state.resumes_at : null;
  useEffect(() => {
    if (leaseS === null) return;
    const renew = (): void => {
      if (document.visibilityState === "visible") mutate({ command: "renew" });
    };
    const timer = setTimeout(renew, (leaseS * 1000) / 2);
    document.addEventListener("visibilitychange", renew);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", renew);
    };
  }, [leaseS, resumesAt, mutate]);

  return {
    state: isEnabled ? state : undefined,
    isPaused,
    isBusy: isPending,
    error: error?.message ?? null,
    send: (command, onDone) => mutate(command, onDone ? { onSuccess: onDone } : {}),
  };
}
