/** What a run is read from; `api/` is behind it in the product, recorded answers in tests. */
import type { EndEvent, HistoryPage, TickEvent } from "./facts";

export interface HistoryQuery {
  readonly after?: number;
  readonly limit?: number;
  readonly max_bytes?: number;
}

export interface WatchQuery {
  /** The number of the last tick that is known. */
  readonly after: number;
  /** With what explains each tick, which costs the service far more. */
  readonly reasons: boolean;
  readonly signal: AbortSignal;
}

/** Reads one run. A refusal is thrown as an error with the `status` of the answer. */
export interface RunService {
  history: (query: HistoryQuery, signal: AbortSignal) => Promise<HistoryPage>;
  /** The events of one connection; ends without the event `end` if the connection is lost. */
  watch: (query: WatchQuery) => AsyncIterable<TickEvent | EndEvent>;
}

/** The status of an answer that refuses; `null` if the error is something else, such as a lost connection. */
export function refusalOf(error: unknown): number | null {
  return error instanceof Error && "status" in error && typeof error.status === "number"
    ? error.status
    : null;
}

/** The service may answer differently later. */
export function isPassing(error: unknown): boolean {
  const status = refusalOf(error);
  return status === null || status === 0 || status === 408 || status === 429 || status >= 500;
}
