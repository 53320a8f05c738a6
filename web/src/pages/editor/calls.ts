/** What the editor asks of the service. */
import { queryOptions } from "@tanstack/react-query";
import { api, ApiError, unwrap } from "@/api/client";
import type { Conflict, Mistake, Tree } from "./types";

export const versionsQuery = (name: string) =>
  queryOptions({
    queryKey: ["trees", name, "versions"],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/trees/{name}/versions", { params: { path: { name } }, signal })),
  });

export const versionTextQuery = (name: string, sha: string) =>
  queryOptions({
    queryKey: ["trees", name, "versions", sha],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/trees/{name}/versions/{sha}", { params: { path: { name, sha } }, signal })),
    staleTime: Infinity, // a version never changes
  });

const MOST_RUNS = 200;

export const answersQuery = (name: string) =>
  queryOptions({
    queryKey: ["trees", name, "answers"],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/trees/{name}/answers", {
          params: { path: { name }, query: { runs: MOST_RUNS } },
          signal,
        }),
      ),
    staleTime: 30_000,
  });

/** Trials of a text: what it would change. They are kept as long as they are shown. */
export const trials = {
  check: (name: string, source: string) =>
    queryOptions({
      queryKey: ["trial", "check", name, source],
      queryFn: ({ signal }) =>
        timed(unwrap(api.POST("/api/trees/check", { body: { name, source }, signal }))),
      ...KEPT,
    }),
  test: (name: string, source: string) =>
    queryOptions({
      queryKey: ["trial", "test", name, source],
      queryFn: ({ signal }) => timed(unwrap(api.POST("/api/trees/test", { body: { name, source }, signal }))),
      ...KEPT,
    }),
  explain: (name: string, source: string, of: string) =>
    queryOptions({
      queryKey: ["trial", "explain", name, source, of],
      queryFn: ({ signal }) =>
        timed(unwrap(api.POST("/api/trees/explain", { body: { name, source, of }, signal }))),
      ...KEPT,
    }),
  verify: (name: string, source: string, of: string, turns: number) =>
    queryOptions({
      queryKey: ["trial", "verify", name, source, of, turns],
      queryFn: ({ signal }) =>
        timed(unwrap(api.POST("/api/trees/verify", { body: { name, source, of, turns }, signal }))),
      ...KEPT,
    }),
  /** The last runs; with a run that one alone. */
  replay: (name: string, source: string, run: string | null = null) =>
    queryOptions({
      queryKey: ["trial", "replay", name, source, run],
      queryFn: ({ signal }) =>
        timed(
          unwrap(api.POST("/api/trees/compare", { body: { name, source, runs: 20, run_id: run }, signal })),
        ),
      ...KEPT,
    }),
};

const KEPT = { staleTime: 60_000, gcTime: 60_000, retry: false } as const;

export interface Timed<Result> {
  result: Result;
  seconds: number;
}

async function timed<Result>(call: Promise<Result>): Promise<Timed<Result>> {
  const begun = performance.now();
  const result = await call;
  return { result, seconds: (performance.now() - begun) / 1000 };
}

/** What became of a save. */
export type Saved =
  | { kind: "saved"; tree: Tree }
  | { kind: "conflict"; conflict: Conflict }
  | { kind: "refused"; mistakes: Mistake[] };

interface Edit {
  name: string;
  source: string;
  version: string | null;
  note: string | null;
}

export async function saveTree({ name, source, version, note }: Edit): Promise<Saved> {
  return outcome(
    await api.PUT("/api/trees/{name}", { params: { path: { name } }, body: { source, version, note } }),
  );
}

export async function restoreVersion(name: string, sha: string, version: string | null, note: string | null) {
  return outcome(
    await api.POST("/api/trees/{name}/versions/{sha}/restore", {
      params: { path: { name, sha } },
      body: { version, note },
    }),
  );
}

function outcome({ data, error, response }: { data?: Tree; error?: unknown; response: Response }): Saved {
  if (data) return { kind: "saved", tree: data };
  if (response.status === 409 && isConflict(error)) return { kind: "conflict", conflict: error };
  const detail = typeof error === "object" && error !== null && "detail" in error ? error.detail : error;
  if (response.status === 422 && isMistakes(detail)) return { kind: "refused", mistakes: detail };
  throw new ApiError(response.status, detail);
}

function isConflict(body: unknown): body is Conflict {
  return typeof body === "object" && body !== null && "version" in body && "detail" in body;
}

function isMistakes(detail: unknown): detail is Mistake[] {
  return (
    Array.isArray(detail) &&
    detail.every((each: unknown) => typeof each === "object" && each !== null && "line" in each)
  );
}
