/** What a replay of recorded queries says, in figures and sentences. */
import { number, plural, reasonText } from "@/parts/format";

import type { ReplayedRun } from "../types";

/** How a query goes with the text, for the squares: `differs` is what a user would notice. */
export type Outcome = "same" | "differs" | "unknown";

export function outcomeOf(run: ReplayedRun): Outcome {
  if (run.verdict === "differs") return "differs";
  return run.verdict === "unknown" ? "unknown" : "same";
}

/** "The same until tick 13. Then it ends as stuck." */
export function headline(run: ReplayedRun): string {
  if (run.verdict === "unknown") return "Not known.";
  if (!run.difference) return "The same, tick by tick.";
  const until =
    run.difference.tick > 1
      ? `The same until tick ${run.difference.tick}.`
      : "Different from the first tick on.";
  if (run.verdict === "another_way") return `${until} Then other nodes, with the same result.`;
  if (run.new_end !== null && run.new_end !== run.old_end)
    return `${until} Then it ends as ${reasonText(run.new_end)}.`;
  return `${until} Then it takes another path.`;
}

/** "The recorded run went on for 3 turns; this tree would end it as stuck." Null if nothing is known of it. */
export function consequence(run: ReplayedRun): string | null {
  const { turns_saved: turns, old_end: was, new_end: end } = run;
  if (turns === null || end === null) return null;
  if (turns > 0)
    return `The recorded run went on for ${plural(turns, "turn")}; this tree would end it as ${reasonText(end)}.`;
  if (was !== null && was !== end) return `The recorded run ended as ${reasonText(was)}.`;
  return null;
}

/** "Together they would have used 41,200 fewer tokens." Null where it makes no difference, or none is known. */
export function tokensSaved(runs: readonly ReplayedRun[]): string | null {
  const saved = runs.reduce((sum, run) => sum + (run.tokens_saved ?? 0), 0);
  if (saved === 0) return null;
  return `Together they would have used ${number(Math.abs(saved))} ${saved > 0 ? "fewer" : "more"} tokens.`;
}

/** "17 do the same. 3 end otherwise: 2 as stuck, 1 as completed." */
export function summary(runs: readonly ReplayedRun[]): string {
  const count = { same: 0, differs: 0, unknown: 0 };
  for (const run of runs) count[outcomeOf(run)] += 1;
  const ends = new Map<string, number>();
  for (const run of runs) {
    if (run.verdict === "differs" && run.new_end !== null && run.new_end !== run.old_end) {
      ends.set(run.new_end, (ends.get(run.new_end) ?? 0) + 1);
    }
  }
  const otherwise = [...ends.values()].reduce((sum, each) => sum + each, 0);
  const parts = [`${count.same} ${count.same === 1 ? "does" : "do"} the same.`];
  if (otherwise > 0) {
    const each = [...ends].map(([reason, times]) => `${times} as ${reasonText(reason)}`).join(", ");
    parts.push(`${otherwise} ${otherwise === 1 ? "ends" : "end"} otherwise: ${each}.`);
  }
  const others = count.differs - otherwise;
  if (others > 0)
    parts.push(`${others} ${others === 1 ? "takes" : "take"} another path that a user would notice.`);
  if (count.unknown > 0) parts.push(`The rest of ${plural(count.unknown, "run")} is not known.`);
  return parts.join(" ");
}
