/** Breakpoints beside the lines of nodes: a click or F9 sets one, and removes it. */
import { type EditorState, RangeSet, StateEffect, StateField } from "@codemirror/state";
import { type BlockInfo, type EditorView, gutter, GutterMarker, keymap, lineNumbers } from "@codemirror/view";

import { changeField } from "./changes";
import { presentLine } from "./lineMapping";

/** A node of the saved text, at which runs can be paused. */
export interface Breakable {
  readonly line: number;
  readonly path: string;
  readonly isSet: boolean;
}

export const setBreakable = StateEffect.define<readonly Breakable[]>();

const breakableField = StateField.define<readonly Breakable[]>({
  create: () => [],
  update(before, transaction) {
    return transaction.effects.findLast((effect) => effect.is(setBreakable))?.value ?? before;
  },
});

class Point extends GutterMarker {
  constructor(readonly isSet: boolean) {
    super();
  }

  override eq(other: Point) {
    return other.isSet === this.isSet;
  }

  override toDOM() {
    const point = document.createElement("span");
    point.className = `cm-breakpoint${this.isSet ? " is-set" : ""}`;
    point.title = `${this.isSet ? "Remove" : "Set"} breakpoint (F9)`;
    return point;
  }
}

/** By the present line; of several nodes on a line the outermost. */
function byLine(state: EditorState): ReadonlyMap<number, Breakable> {
  const { saved, chunks } = state.field(changeField);
  const lines = new Map<number, Breakable>();
  for (const each of state.field(breakableField)) {
    const line = presentLine(saved, state.doc, chunks, each.line);
    if (line !== null && !lines.has(line)) lines.set(line, each);
  }
  return lines;
}

export function breakpoints(onToggle: (node: Breakable) => void) {
  /** A number belongs to the dot beside it: together they are wide enough to hit. */
  const domEventHandlers = { click: (view: EditorView, block: BlockInfo) => toggleAt(view, block.from) };
  const toggleAt = ({ state }: EditorView, at: number) => {
    const node = byLine(state).get(state.doc.lineAt(at).number);
    if (node) onToggle(node);
    return node !== undefined;
  };
  return [
    breakableField,
    keymap.of([{ key: "F9", run: (view) => toggleAt(view, view.state.selection.main.head) }]),
    gutter({
      class: "cm-breakpoint-gutter",
      markers: ({ state }) =>
        RangeSet.of(
          [...byLine(state)].map(([line, { isSet }]) => new Point(isSet).range(state.doc.line(line).from)),
          true,
        ),
      domEventHandlers,
    }),
    lineNumbers({ domEventHandlers }),
  ];
}
