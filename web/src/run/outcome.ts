/** How a run ended, or stands, in a word and a tone; the words of lists and heads. */
import type { RunFacts } from "./facts";

export interface Outcome {
  readonly words: string;
  readonly tone: "ok" | "warn" | "err" | "run" | "plain";
}

const WORDS: Readonly<Record<string, Outcome>> = {
  completed: { words: "completed", tone: "ok" },
  user_cancelled: { words: "cancelled", tone: "plain" },
  error: { words: "error", tone: "err" },
  max_iterations: { words: "turn limit", tone: "warn" },
  token_budget: { words: "token budget", tone: "warn" },
  timeout: { words: "time limit", tone: "warn" },
  no_progress: { words: "no progress", tone: "warn" },
  error_limit: { words: "tool errors", tone: "err" },
  stuck: { words: "stuck", tone: "warn" },
};

const UNDER_WAY: Readonly<Record<Exclude<RunFacts["status"], "finished">, Outcome>> = {
  queued: { words: "queued", tone: "plain" },
  running: { words: "running", tone: "run" },
  parked: { words: "waiting", tone: "run" },
};

export function outcomeOf(run: Pick<RunFacts, "status" | "termination_reason">): Outcome {
  if (run.status !== "finished") return UNDER_WAY[run.status];
  const reason = run.termination_reason ?? "";
  return WORDS[reason] ?? { words: reason.replaceAll("_", " ") || "ended", tone: "plain" };
}
