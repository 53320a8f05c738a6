/** How an answer ended, in words: the badge below it, and what can be done next. */
import type { LimitField } from "./limits";
import type { TerminationReason } from "@/stream/chunks";

export interface Ending {
  readonly words: string;
  readonly tone: "ok" | "warn" | "err" | "plain";
  readonly mark: "success" | "warning" | "error" | "halted";
  /** The answer was cut short, so that it can be asked to go on. */
  readonly canGoOn: boolean;
  /** The limit that was reached. */
  readonly limit: LimitField | null;
}

const stopped = (words: string, limit: LimitField | null = null): Ending => ({
  words: `Stopped: ${words}`,
  tone: "warn",
  mark: "warning",
  canGoOn: true,
  limit,
});

const ENDINGS: Readonly<Record<TerminationReason, Ending>> = {
  completed: { words: "Completed", tone: "ok", mark: "success", canGoOn: false, limit: null },
  user_cancelled: { words: "Cancelled by you", tone: "plain", mark: "halted", canGoOn: false, limit: null },
  error: { words: "error", tone: "err", mark: "error", canGoOn: false, limit: null },
  max_iterations: stopped("iteration limit", "max_iterations"),
  token_budget: stopped("token budget", "token_budget"),
  timeout: stopped("time limit", "timeout_seconds"),
  no_progress: stopped("no progress"),
  error_limit: stopped("tool errors"),
  stuck: stopped("could not get further"),
};

/** How a reason reads. With an error its kind is named, which an operator can look up. */
export function endingOf(reason: TerminationReason, errorType: string | null): Ending {
  const ending = ENDINGS[reason];
  return reason === "error" && errorType ? { ...ending, words: `error: ${errorType}` } : ending;
}
