/** What the chat reads from the service. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import { queryClient } from "@/api/queries";
import type { Schemas } from "@/api/types";
import type { Source } from "@/stream/chunks";
import { readAnswer } from "@/stream/service";

export type ConversationHead = Schemas["ConversationHead"];
export type RunFigures = Pick<
  Schemas["RunBody"],
  | "run_id"
  | "turns"
  | "tokens_used"
  | "duration_s"
  | "limits"
  | "created_at"
  | "error_type"
  | "termination_reason"
  | "model_used"
  | "tree"
  | "feedback"
  | "kept"
>;

const CONVERSATIONS = 50;
const MESSAGES = 100;

/** The list of conversations, a page at a time. */
export const conversationsQuery = (search: string) =>
  infiniteQueryOptions({
    queryKey: ["conversations", search],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/api/oracle/conversations", {
          params: {
            query: {
              limit: CONVERSATIONS,
              ...(search && { search }),
              ...(pageParam && { before: pageParam }),
            },
          },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.next,
  });

/** A conversation; the first page has its newest messages, the next ones those before. */
export const conversationQuery = (contextId: string) =>
  infiniteQueryOptions({
    queryKey: ["conversation", contextId],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET("/api/oracle/conversations/{context_id}", {
          params: {
            path: { context_id: contextId },
            query: { limit: MESSAGES, ...(pageParam !== null && { before: pageParam }) },
          },
          signal,
        }),
      ),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.next,
  });

/** How the runs of a conversation stand, by their ids. */
export const runsOfQuery = (contextId: string) =>
  queryOptions({
    queryKey: ["runs", "of", contextId],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/runs", { params: { query: { context_id: contextId, limit: 200 } }, signal })),
    select: (list): ReadonlyMap<string, RunFigures> =>
      new Map<string, RunFigures>(list.runs.map((run) => [run.run_id, run])),
  });

/** One run: its limits and its tree are known from its beginning. */
export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ["run", runId],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/oracle/runs/{run_id}", { params: { path: { run_id: runId } }, signal })),
    staleTime: Infinity,
  });

/** The answer of a run that has ended, with its parts in the order in which they came. It never changes. */
export const answerQuery = (runId: string) =>
  queryOptions({
    queryKey: ["answer", runId],
    queryFn: ({ signal }) => readAnswer(runId, signal),
    staleTime: Infinity,
  });

/** The text of a source that a run has cited. */
export const sourceQuery = (runId: string, source: Source) =>
  queryOptions({
    queryKey: ["source", runId, source.source_type, source.path, source.line ?? null],
    queryFn: ({ signal }) => {
      const { path, line, source_type: type } = source;
      if (type === "web") throw new Error("a page of the web is opened in the browser");
      return unwrap(
        api.GET("/api/oracle/runs/{run_id}/source", {
          params: { path: { run_id: runId }, query: { path, source_type: type, ...(line && { line }) } },
          signal,
        }),
      );
    },
  });

/** The list and a conversation have changed. */
export async function refreshConversation(contextId: string): Promise<void> {
  const changed = [["conversations"], ["conversation", contextId], ["runs", "of", contextId]];
  // A first read that is under way would be joined by the next one, and show what was before the change.
  await Promise.all(changed.map((queryKey) => queryClient.cancelQueries({ queryKey })));
  await Promise.all(changed.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
}

/** A new conversation with what was said before the question of a run. */
export async function forkBefore(contextId: string, runId: string): Promise<string> {
  const params = { path: { context_id: contextId } };
  const forked = await unwrap(
    api.POST("/api/oracle/conversations/{context_id}/fork", { params, body: { before_run: runId } }),
  );
  return forked.context_id;
}
