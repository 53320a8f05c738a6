/** The breakpoints that the service keeps, and those of them at the nodes of a run. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, unwrap } from "@/api/client";
import type { Schemas } from "@/api/types";
import { toast } from "@/parts/Toast";
import type { RunModel } from "@/run/model";
import type { BreakpointMark } from "../interface";

export type Breakpoint = Schemas["BreakpointBody"];
export type NewBreakpoint = Schemas["BreakpointNew"];

const KEY = ["breakpoints"];

export function useBreakpoints(isEnabled: boolean) {
  const queries = useQueryClient();
  const { data } = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => unwrap(api.GET("/api/debug/breakpoints", { signal })),
    enabled: isEnabled,
  });
  const options = {
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
    onError: (error: Error) => toast(error.message),
  };
  const add = useMutation({
    ...options,
    mutationFn: (body: NewBreakpoint) => unwrap(api.POST("/api/debug/breakpoints", { body })),
  });
  const remove = useMutation({
    ...options,
    mutationFn: (id: string) =>
      unwrap(
        api.DELETE("/api/debug/breakpoints/{breakpoint_id}", { params: { path: { breakpoint_id: id } } }),
      ),
  });
  const enable = useMutation({
    ...options,
    mutationFn: ({ id, enabled }: { id: string; enabled: boolean }) =>
      unwrap(
        api.PATCH("/api/debug/breakpoints/{breakpoint_id}", {
          params: { path: { breakpoint_id: id } },
          body: { enabled },
        }),
      ),
  });
  return {
    all: data?.breakpoints ?? [],
    add: add.mutate,
    remove: remove.mutate,
    setEnabled: (id: string, enabled: boolean) => enable.mutate({ id, enabled }),
  };
}

/** The breakpoint at a node of a run; of several the first. */
export function breakpointAt(
  all: readonly Breakpoint[],
  model: RunModel,
  node: number,
): Breakpoint | undefined {
  const path = model.nodes[node]?.path;
  return all.find((each) => each.kind === "node" && each.path === path && isMeant(each, model));
}

/** The breakpoints at the nodes of a run, by node. */
export function useBreakpointMarks(
  all: readonly Breakpoint[],
  model: RunModel,
): ReadonlyMap<number, BreakpointMark> {
  return useMemo(() => {
    const index = new Map(model.nodes.map((node) => [node.path, node.index]));
    const marks = new Map<number, BreakpointMark>();
    for (const each of all) {
      const node = each.path === null ? undefined : index.get(each.path);
      if (each.kind !== "node" || node === undefined || !isMeant(each, model)) continue;
      marks.set(node, { enabled: each.enabled, problem: each.problem ?? "" });
    }
    return marks;
  }, [all, model]);
}

function isMeant(each: Breakpoint, { run }: RunModel): boolean {
  return (
    (each.tree === null || each.tree === run.tree) &&
    (each.run_id === null || each.run_id === run.id) &&
    (each.user_id === null || each.user_id === run.user_id)
  );
}
