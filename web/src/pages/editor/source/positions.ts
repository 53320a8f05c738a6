/** Places as the service counts them (line and column from 1, a column is one character) and offsets in a document. */

import type { Text } from "@codemirror/state";

export interface Position {
  line: number;
  column: number;
}

/** The offset of a place. One that lies outside of the document is moved to the nearest offset inside. */
export function offsetAt(doc: Text, place: Position): number {
  const line = doc.line(Math.min(Math.max(place.line, 1), doc.lines));
  let offset = 0;
  let column = 1;
  for (const character of line.text) {
    if (column >= place.column) break;
    offset += character.length; // two units where the character needs a surrogate pair
    column += 1;
  }
  return line.from + offset;
}

/** The place of an offset. */
export function positionAt(doc: Text, offset: number): Position {
  const line = doc.lineAt(offset);
  const before = line.text.slice(0, offset - line.from);
  return { line: line.number, column: Array.from(before).length + 1 };
}
