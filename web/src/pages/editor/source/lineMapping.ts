/** Where the lines of the saved text are in the text that is edited. */

import type { Chunk } from "@codemirror/merge";
import type { Text } from "@codemirror/state";

/** The number of a saved line in the present text; null where it is gone. A changed line keeps its place in the change. */
export function presentLine(
  saved: Text,
  present: Text,
  chunks: readonly Chunk[],
  line: number,
): number | null {
  if (line > saved.lines) return null;
  const at = saved.line(line).from;
  let shift = 0;
  for (const chunk of chunks) {
    if (at < chunk.fromA) break;
    if (at < chunk.toA) {
      const within = line - saved.lineAt(chunk.fromA).number;
      const first = present.lineAt(Math.min(chunk.fromB, present.length)).number;
      const last = present.lineAt(Math.min(Math.max(chunk.toB - 1, chunk.fromB), present.length)).number;
      return chunk.fromB < chunk.toB && first + within <= last ? first + within : null;
    }
    shift = chunk.toB - chunk.toA;
  }
  return present.lineAt(Math.min(at + shift, present.length)).number;
}
