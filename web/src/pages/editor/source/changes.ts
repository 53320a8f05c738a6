/** Which lines differ from the saved version: a bar beside the line number, and how many there are. */

import { Chunk } from "@codemirror/merge";
import { type EditorState, RangeSet, StateEffect, StateField, Text } from "@codemirror/state";
import { gutter, GutterMarker } from "@codemirror/view";

/** The saved text is another one now. */
export const setSaved = StateEffect.define<string>();

interface Changes {
  saved: Text;
  chunks: readonly Chunk[];
}

export const changeField = StateField.define<Changes>({
  create: (state) => ({ saved: state.doc, chunks: [] }),
  update(before, transaction) {
    let now = before;
    for (const effect of transaction.effects) {
      if (effect.is(setSaved)) {
        const saved = textOf(effect.value);
        now = { saved, chunks: Chunk.build(saved, transaction.newDoc) };
        return now;
      }
    }
    if (transaction.docChanged) {
      now = { ...now, chunks: Chunk.updateB(now.chunks, now.saved, transaction.newDoc, transaction.changes) };
    }
    return now;
  },
});

export interface ChangeCounts {
  added: number;
  removed: number;
}

/** How many lines were added and removed since the saved version. */
export function changeCounts(state: EditorState): ChangeCounts {
  const { saved, chunks } = state.field(changeField);
  let added = 0;
  let removed = 0;
  for (const chunk of chunks) {
    added += lineCount(state.doc, chunk.fromB, chunk.toB);
    removed += lineCount(saved, chunk.fromA, chunk.toA);
  }
  return { added, removed };
}

export function textOf(text: string): Text {
  return Text.of(text.split(/\r\n?|\n/));
}

function lineCount(doc: Text, from: number, to: number): number {
  if (from >= to) return 0; // `to` lies behind the line's end, as if another line followed
  return doc.lineAt(Math.min(to - 1, doc.length)).number - doc.lineAt(from).number + 1;
}

class ChangeMark extends GutterMarker {
  constructor(override readonly elementClass: string) {
    super();
  }
}

const changed = new ChangeMark("cm-change-mark cm-change-mark-changed");
const removed = new ChangeMark("cm-change-mark cm-change-mark-removed");

export const changeGutter = [
  changeField,
  gutter({
    class: "cm-change-gutter",
    markers: (view) => {
      const { doc } = view.state;
      const marks = [];
      for (const chunk of view.state.field(changeField).chunks) {
        if (chunk.fromB >= chunk.toB) {
          marks.push(removed.range(doc.lineAt(Math.min(chunk.fromB, doc.length)).from));
          continue;
        }
        for (let at = chunk.fromB; at < chunk.toB && at <= doc.length;) {
          const line = doc.lineAt(at);
          marks.push(changed.range(line.from));
          at = line.to + 1;
        }
      }
      return RangeSet.of(marks, true);
    },
  }),
];
