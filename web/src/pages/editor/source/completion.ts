/** Completion by the service, which alone knows the node kinds, tools, trees and blackboard keys. */

import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  snippet,
} from "@codemirror/autocomplete";
import type { Text } from "@codemirror/state";
import type { EditorView, Rect } from "@codemirror/view";

import type { Proposal } from "../types";
import { described } from "./markup";
import { offsetAt, type Position, positionAt } from "./positions";
import { snippetTemplate } from "./snippets";

export type Complete = (source: string, at: Position, signal: AbortSignal) => Promise<readonly Proposal[]>;

const WORD = /^[\w-]*$/;
const TYPED = /[\w\-{[:."]\s?$|^\s*-?\s$/; // what is before the cursor where proposals come by themselves
const BEST = 99; // the greatest boost that CodeMirror documents

/** Proposals come while a word is typed, and on Ctrl-Space. */
export function completion(complete: Complete) {
  return autocompletion({
    override: [(context) => proposals(context, complete)],
    filterStrict: true,
    icons: false,
    aboveCursor: false,
    tooltipClass: () => "cm-completions",
    addToOptions: [{ render: detailOf, position: 90 }],
    positionInfo: below,
  });
}

async function proposals(context: CompletionContext, complete: Complete): Promise<CompletionResult | null> {
  if (!context.explicit && !context.matchBefore(TYPED)) return null;
  const aborter = new AbortController();
  context.addEventListener("abort", () => aborter.abort(), { onDocChange: true });
  const { doc } = context.state;
  let items: readonly Proposal[];
  try {
    items = await complete(context.state.sliceDoc(), positionAt(doc, context.pos), aborter.signal);
  } catch {
    return null; // outdated, or the service does not answer: the connection strip says so
  }
  const first = items[0];
  if (context.aborted || !first || context.view?.hasFocus === false) return null;
  const from = offsetAt(doc, first);
  return { from, options: items.map((item, rank) => optionOf(item, rank, doc, from)), validFor: WORD };
}

function optionOf(item: Proposal, rank: number, doc: Text, from: number): Completion {
  const ownFrom = offsetAt(doc, item);
  const behind = offsetAt(doc, { line: item.end_line, column: item.end_column });
  const text = item.snippet === null ? null : snippet(snippetTemplate(item.snippet));
  return {
    label: item.label,
    type: item.kind,
    boost: Math.max(BEST - rank, -BEST),
    ...(item.detail && { detail: item.detail }),
    ...(item.doc && { info: () => described(item.doc) }),
    apply: (view, option, start, end) => {
      // What was typed since has moved the end; what stands behind the cursor is replaced with it.
      const to = end + Math.max(0, behind - Math.max(from, ownFrom) - (end - start));
      const begin = start + (ownFrom - from);
      if (text) text(view, option, begin, end);
      else insert(view, item.insert, begin, Math.min(to, view.state.doc.lineAt(end).to));
    },
  };
}

function insert(view: EditorView, text: string, from: number, to: number): void {
  view.dispatch({
    changes: { from, to, insert: text },
    selection: { anchor: from + text.length },
    userEvent: "input.complete",
    scrollIntoView: true,
  });
}

function detailOf(option: Completion): Node | null {
  if (!option.type || option.detail) return null;
  const kind = document.createElement("span");
  kind.className = "cm-completionDetail";
  kind.textContent = option.type;
  return kind;
}

/** The description stands below the list, as wide as the list. */
function below(_view: EditorView, list: Rect) {
  return {
    style: `left: 0; top: ${list.bottom - list.top}px; width: ${list.right - list.left}px; max-width: none`,
    class: "",
  };
}
