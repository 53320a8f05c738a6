import type { RunModel } from "@/run/model";

export interface Used {
  readonly turns: number;
  readonly tokens: number;
  /** `null` before the first tick of a run under way. */
  readonly seconds: number | null;
}

/** What a run has used: the figures of its end, or those of its turns so far. */
export function usedBy(model: RunModel): Used {
  const { run, turns, ticks } = model;
  if (run.finished_at !== null)
    return { turns: run.turns, tokens: run.tokens_used, seconds: run.finished_at - run.created_at };
  const ended = turns.filter((turn) => turn.ended_s !== null);
  return {
    turns: ended.filter((turn) => !turn.error && !turn.interrupted).length, // as in its row at the end
    tokens: ended.reduce((sum, turn) => sum + (turn.tokens ?? 0), 0),
    seconds: ticks.at(-1)?.at_s ?? null,
  };
}
