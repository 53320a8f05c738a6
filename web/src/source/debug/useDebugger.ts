/**
 * How a run stands for the debugger, and what an operator can tell it.
 *
 * A request waits at the service until the run is paused or goes on, because no tick tells that a run is paused before
 * one. A paused run goes on by itself when its lease ends; the lease is renewed as long as the page is seen.
 */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { api, unwrap } from "@/api/client";
import type { Schemas } from "@/api/types";
import { toast } from "@/parts/Toast";
import { isPassing } from "@/run/service";
import { sleep } from "@/store/clock";

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

const WAIT_S = 20;
const RETRY_MS = 2_000;

export function useDebugger(runId: string, isEnabled: boolean): Debugger {
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

  const isGoing = isEnabled && state !== undefined && state.state !== "ended";
  const since = state?.since ?? null;
  useEffect(() => {
    if (!isGoing) return;
    const abort = new AbortController();
    const { signal } = abort;
    const next = async (): Promise<void> => {
      const query = { since, wait_s: WAIT_S };
      for (;;) {
        try {
          const path = { run_id: runId };
          const body = await unwrap(api.GET("/api/runs/{run_id}/debug", { params: { path, query }, signal }));
          if (body.since !== since || body.state === "ended") {
            queries.setQueryData(["debug", runId], body);
            return;
          }
        } catch (problem) {
          if (signal.aborted || !isPassing(problem)) return;
          await sleep(RETRY_MS, signal);
        }
      }
    };
    next().catch(() => undefined); // the page is left during a pause between two requests
    return () => abort.abort();
  }, [queries, runId, isGoing, since]);

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
