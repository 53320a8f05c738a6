/** Two quiet voices: node kinds in ink, values and expressions in one colour; keys and comments step back. */

import { syntaxTree } from "@codemirror/language";
import { type Range } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view";

import { isKindKey, isKindLiteral, type SyntaxNode } from "./outline";

const marks = {
  kind: Decoration.mark({ class: "cm-voice-kind" }),
  key: Decoration.mark({ class: "cm-voice-key" }),
  value: Decoration.mark({ class: "cm-voice-value" }),
  comment: Decoration.mark({ class: "cm-voice-comment" }),
};

export const highlighting = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = decorated(view);
    }

    update(update: ViewUpdate) {
      const reparsed = syntaxTree(update.startState) !== syntaxTree(update.state);
      if (update.docChanged || update.viewportChanged || reparsed) this.decorations = decorated(update.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function decorated(view: EditorView): DecorationSet {
  const found: Range<Decoration>[] = [];
  for (const { from, to } of view.visibleRanges) {
    syntaxTree(view.state).iterate({
      from,
      to,
      enter: (node) => {
        const mark = voiceOf(view, node.node);
        if (mark && node.to > node.from) found.push(mark.range(node.from, node.to));
        return !mark;
      },
    });
  }
  return Decoration.set(found, true);
}

function voiceOf(view: EditorView, node: SyntaxNode): Decoration | null {
  switch (node.name) {
    case "Comment":
      return marks.comment;
    case "Key":
      return isKindKey(view.state, node) ? marks.kind : marks.key;
    case "Literal":
      return isKindLiteral(view.state, node) ? marks.kind : marks.value;
    case "FlowMapping":
    case "FlowSequence":
    case "QuotedLiteral":
    case "BlockLiteralContent":
    case "BlockLiteralHeader":
      return marks.value;
    case "-":
    case ":":
      return marks.key;
    default:
      return null;
  }
}
