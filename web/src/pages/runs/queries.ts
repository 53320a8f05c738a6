/** The runs of the list: page by page, counted, and those under way as they go on. */
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { api, unwrap } from "@/api/client";
import type { Schemas } from "@/api/types";
import { serviceTime } from "@/store/clock";
import { NONE, queryOf, SLOW_S, UNDER_WAY, type RunFilters, type RunQuery } from "./filters";

export type RunBody = Schemas["RunBody"];

const PAGE = 50;
const UNDER_WAY_MS = 3_000;
const COUNTS_STALE_MS = 15_000;
const LIST = ["runs", "list"] as const;

// openapi-fetch makes arrays of the tuples of a shape
const fetchRuns = (query: RunQuery, signal: AbortSignal) =>
  unwrap(api.GET("/api/runs", { params: { query }, signal })) as Promise<Schemas["RunList"]>;

/** The list. While a run in it is under way, those alone are read again, and the list when one has ended. */
export function useRunList(filters: RunFilters) {
  const queries = useQueryClient();
  const list = useInfiniteQuery({
    queryKey: [...LIST, filters],
    queryFn: ({ pageParam, signal }) =>
      fetchRuns(
        {
          ...queryOf(filters, serviceTime()),
          limit: PAGE,
          counts: false,
          ...(pageParam && { before: pageParam }),
        },
        signal,
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: "always",
  });
  const listed = useMemo(() => list.data?.pages.flatMap((page) => page.runs) ?? [], [list.data]);
  const waited = listed.filter((run) => run.status !== "finished").map((run) => run.run_id);

  const { data: underWay, dataUpdatedAt } = useQuery({
    queryKey: ["runs", "under way"],
    queryFn: ({ signal }) => fetchRuns({ status: [...UNDER_WAY], limit: PAGE, counts: false }, signal),
    enabled: waited.length > 0,
    refetchInterval: UNDER_WAY_MS,
    select: (page) => page.runs,
  });
  const hasEnded = underWay !== undefined && waited.some((id) => !underWay.some((run) => run.run_id === id));
  useEffect(() => {
    if (!hasEnded) return;
    void queries.invalidateQueries({ queryKey: LIST });
    void queries.invalidateQueries({ queryKey: ["runs", "counts"] });
  }, [hasEnded, queries]);

  const runs = useMemo(() => {
    const fresh = new Map(underWay?.map((run) => [run.run_id, run]));
    return listed.map((run) => (run.status !== "finished" ? (fresh.get(run.run_id) ?? run) : run));
  }, [listed, underWay]);
  return { ...list, runs, readAt: serviceTime(Math.max(list.dataUpdatedAt, dataUpdatedAt)) };
}

/** How many runs the filters let through, by reason; without the outcome, whose tabs show it. */
export function useRunCounts(filters: RunFilters) {
  const counted: RunFilters = { ...filters, outcome: NONE.outcome, reason: NONE.reason };
  return useQuery({
    queryKey: ["runs", "counts", counted],
    queryFn: async ({ signal }) =>
      (await fetchRuns({ ...queryOf(counted, serviceTime()), limit: 1, counts: true }, signal)).counts,
    placeholderData: keepPreviousData,
    staleTime: COUNTS_STALE_MS,
    refetchOnWindowFocus: "always",
  }).data;
}

/** How many of the runs that are listed are slow, and have node errors. */
export function useFlagCounts(filters: RunFilters) {
  const flagged = (name: string, more: RunQuery) => ({
    queryKey: ["runs", "counts", name, filters],
    queryFn: async ({ signal }: { signal: AbortSignal }) =>
      (await fetchRuns({ ...queryOf(filters, serviceTime()), ...more, limit: 1, counts: true }, signal))
        .counts,
    staleTime: COUNTS_STALE_MS,
  });
  const slow = useQuery(flagged("slow", { slow: SLOW_S }));
  const errors = useQuery(flagged("errors", { errors: true }));
  return { slow: slow.data?.total, errors: errors.data?.total };
}
