/** Long lines go on below, two columns behind their indent, so that nothing of them is out of view. */

import { type Range } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";

const HANGING_COLUMNS = 2;

/** The column at which the rest of a line begins, from 0. */
export function restColumn(line: string): number {
  return line.search(/\S|$/) + HANGING_COLUMNS;
}

const hanging = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = decorated(view);
    }

    update(update: ViewUpdate) {
      if (update.docChanged || update.viewportChanged) this.decorations = decorated(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function decorated(view: EditorView): DecorationSet {
  const found: Range<Decoration>[] = [];
  const { doc } = view.state;
  for (const { from, to } of view.visibleRanges) {
    for (let line = doc.lineAt(from); line.from <= to; line = doc.line(line.number + 1)) {
      const attributes = { style: `--rest: ${restColumn(line.text)}ch` };
      found.push(Decoration.line({ class: "cm-hanging", attributes }).range(line.from));
      if (line.number === doc.lines) break;
    }
  }
  return Decoration.set(found, true);
}

export const wrapping = [EditorView.lineWrapping, hanging];
