/** Which tree the cursor stands on. */

import type { EditorView } from "@codemirror/view";

/** The name of a known tree under the cursor, else the one that its line includes; null if there is none. */
export function treeNameAt(view: EditorView, known: ReadonlySet<string>): string | null {
  const at = view.state.selection.main.head;
  const line = view.state.doc.lineAt(at);
  return treeNameIn(line.text, at - line.from, known);
}

export function treeNameIn(line: string, column: number, known: ReadonlySet<string>): string | null {
  const words = [...line.matchAll(/[a-z][\w-]*/g)].filter((word) => known.has(word[0]));
  const under = words.find((word) => word.index <= column && column <= word.index + word[0].length);
  const included = /\bsubtree:/.test(line) ? words.at(0) : undefined;
  return (under ?? included)?.[0] ?? null;
}
