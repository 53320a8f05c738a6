/** Two runs beside each other: where they part, and in what. A is the run of the path, B the other. */
import type { Schemas } from "@/api/types";
import type { TreeFacts } from "@/run/facts";
import type { RunModel } from "@/run/model";

export type Difference = Schemas["HistoryDifference"];

/**
 * The tick from which on the trees do something else; 0 if they never do.
 *
 * What the model is sent may differ before, in a word of a tool's result; nodes with other results are what counts here.
 */
export const partsAtTick = ({ ticks, way }: Difference): number => ticks[0]?.tick ?? way?.tick ?? 0;

/** How many ticks from the start have the same results in both runs. */
export function equalTicks(difference: Difference, a: RunModel, b: RunModel): number {
  const parts = partsAtTick(difference);
  return parts > 0 ? parts - 1 : Math.min(a.ticks.length, b.ticks.length);
}

/** The next tick with other results after the one that is shown; the first one again after the last. */
export const nextDifference = ({ ticks }: Difference, tick: number): number | null =>
  (ticks.find((each) => each.tick > tick) ?? ticks[0])?.tick ?? null;

/** Two headlines without the sentences that both begin with. */
export function differingParts(one: string, other: string): readonly [string, string] {
  let end = 0;
  for (const { index } of one.matchAll(/[.!?]\s+/g)) {
    const begun = index + 2;
    if (one.slice(0, begun) !== other.slice(0, begun)) break;
    end = begun;
  }
  return [one.slice(end).trim(), other.slice(end).trim()];
}

export type Alignment = "tick" | "turn";

/** The position in B that belongs to a position in A: the same tick, or the same place in the same turn. */
export function alignedTo(a: RunModel, b: RunModel, at: number, by: Alignment): number {
  const last = b.ticks.length - 1;
  const tick = a.ticks[at];
  if (by === "tick" || tick === undefined) return Math.min(at, last);
  const first = (model: RunModel) => model.ticks.findIndex((each) => each.turn === tick.turn);
  const begins = first(b);
  if (begins < 0) return last;
  const place = at - first(a);
  const ends = b.ticks.findLastIndex((each) => each.turn === tick.turn);
  return Math.min(begins + place, ends);
}

export interface KeyDifference {
  key: string;
  a: unknown;
  b: unknown;
}

/** The blackboard keys whose values differ, and how many are the same. */
export function boardDifferences(
  a: RunModel,
  b: RunModel,
  atA: number,
  atB: number,
): { different: KeyDifference[]; same: number } {
  const names = [...new Set([...a.keyNames, ...b.keyNames])];
  const different = names
    .map((key) => ({ key, a: a.value(key, atA), b: b.value(key, atB) }))
    .filter((each) => JSON.stringify(each.a ?? null) !== JSON.stringify(each.b ?? null));
  return { different, same: names.length - different.length };
}

/** Lines of a file that one of the trees has and the other has not. */
export interface LineDifference {
  file: string;
  /** In A; where lines were only added, the line before them. */
  line: number;
  removed: readonly string[];
  added: readonly string[];
}

/** What differs between the files of two versions of a tree. */
export function lineDifferences(a: TreeFacts | null, b: TreeFacts | null): LineDifference[] {
  if (a === null || b === null) return [];
  const files = [...new Set([...Object.keys(a.files), ...Object.keys(b.files)])].sort();
  return files.flatMap((file) =>
    diffLines(a.files[file] ?? "", b.files[file] ?? "").map((each) => ({ file, ...each })),
  );
}

const MOST_CELLS = 4_000_000; // of the table of common lines: two files of 2,000 changed lines

function diffLines(one: string, other: string): Omit<LineDifference, "file">[] {
  if (one === other) return [];
  const [before, after] = [one.split("\n"), other.split("\n")];
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let cut = 0;
  const least = Math.min(before.length, after.length) - start;
  while (cut < least && before.at(-1 - cut) === after.at(-1 - cut)) cut++;
  const [old, fresh] = [before.slice(start, before.length - cut), after.slice(start, after.length - cut)];
  if (old.length * fresh.length > MOST_CELLS) return [{ line: start + 1, removed: old, added: fresh }];

  const common = commonLines(old, fresh);
  const found: Omit<LineDifference, "file">[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < fresh.length) {
    const [fromI, fromJ] = [i, j];
    while (i < old.length || j < fresh.length) {
      if (i < old.length && j < fresh.length && old[i] === fresh[j]) break;
      const [down, right] = [common[i + 1]?.[j] ?? -1, common[i]?.[j + 1] ?? -1];
      if (j >= fresh.length || (i < old.length && down >= right)) i++;
      else j++;
    }
    if (i > fromI || j > fromJ)
      found.push({ line: start + fromI + 1, removed: old.slice(fromI, i), added: fresh.slice(fromJ, j) });
    while (i < old.length && j < fresh.length && old[i] === fresh[j]) {
      i++;
      j++;
    }
  }
  return found;
}

/** How many lines the rests from each place on have in common. */
function commonLines(one: readonly string[], other: readonly string[]): Uint16Array[] {
  const table = Array.from({ length: one.length + 1 }, () => new Uint16Array(other.length + 1));
  for (let i = one.length - 1; i >= 0; i--)
    for (let j = other.length - 1; j >= 0; j--) {
      const [row, below] = [table[i], table[i + 1]];
      if (!row || !below) continue;
      row[j] = one[i] === other[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  return table;
}
