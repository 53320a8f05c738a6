/** What waits for people, and what they decide. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { api, unwrap } from "./client";
import { queryClient } from "./queries";
import type { Schemas } from "./types";

export type Pending = Schemas["PendingInterrupt"];
export type Delivery = Schemas["DeliveryBody"];

const REFETCH_MS = 15_000;
const MOST = 200;

export const pendingQuery = queryOptions({
  queryKey: ["pending"],
  queryFn: ({ signal }) =>
    unwrap(api.GET("/api/oracle/pending", { params: { query: { limit: MOST } }, signal })),
  refetchInterval: REFETCH_MS,
});

export const usePending = () => useQuery(pendingQuery);

/** Some of what waits has changed. */
export const pendingChanged = (): void => void queryClient.invalidateQueries(pendingQuery);

/** How many things this user can decide; `200+` where there are more than are read. */
export function usePendingCount(): string | null {
  const { data } = usePending();
  const count = data?.pending.filter((each) => each.may_answer).length ?? 0;
  return count === 0 ? null : `${count}${data?.next ? "+" : ""}`;
}

/**
 * Decide one or several of the things that a run asks: all or none is taken.
 *
 * @returns the interrupts as they are now, in the same order.
 */
export async function deliver(
  runId: string,
  deliveries: readonly Delivery[],
): Promise<readonly Schemas["Interrupt"][]> {
  const params = { path: { run_id: runId } };
  const body = [...deliveries];
  const taken = await unwrap(api.POST("/api/oracle/runs/{run_id}/deliveries", { params, body }));
  pendingChanged();
  void queryClient.invalidateQueries(grantsQuery);
  return taken.interrupts;
}

export const grantsQuery = queryOptions({
  queryKey: ["grants"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/oracle/grants", { signal })),
});

export async function withdrawGrant(id: string): Promise<void> {
  await unwrap(api.DELETE("/api/oracle/grants/{grant_id}", { params: { path: { grant_id: id } } }));
  await queryClient.invalidateQueries(grantsQuery);
}
