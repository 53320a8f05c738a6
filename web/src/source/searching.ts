/** Finding lines of a source, and opening what they are folded in. */
import { around } from "@/run/rows";
import type { Source } from "@/run/source";

/** The next row with these words below another one (1), or above it (-1), round the end; `null` if there is none. */
export function findRow(
  source: Source,
  words: string,
  from: number | null,
  direction: 1 | -1 = 1,
): number | null {
  const wanted = words.trim().toLowerCase();
  if (wanted === "") return null;
  const { rows } = source;
  const start = from ?? (direction === 1 ? -1 : 0);
  for (let step = 1; step <= rows.length; step++) {
    const row = rows.at((start + direction * step) % rows.length);
    if (row?.text.toLowerCase().includes(wanted) && (row.owner !== null || row.nodes.length > 0))
      return row.index;
  }
  return null;
}

/** What is opened by hand, and all that a row is folded in. */
export function openAround(
  source: Source,
  opened: ReadonlyMap<number, boolean>,
  row: number,
): Map<number, boolean> {
  return new Map([...opened, ...around(source, row).map((each) => [each, true] as const)]);
}
