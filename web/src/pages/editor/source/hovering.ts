/** What a word means, by the service. */

import { type EditorView, hoverTooltip } from "@codemirror/view";

import { described } from "./markup";
import { type Position, positionAt } from "./positions";

export type Describe = (source: string, at: Position) => Promise<string | null>;

const WORD = /[\w-]+/g;

/** It closes when something is typed, so that it never covers the line under the hands. */
export function hovering(describe: Describe) {
  const source = async (view: EditorView, at: number) => {
    const line = view.state.doc.lineAt(at);
    const word = [...line.text.matchAll(WORD)].find(
      (each) => line.from + each.index <= at && at <= line.from + each.index + each[0].length,
    );
    if (!word) return null;
    const pos = line.from + word.index;
    const text = await describe(view.state.sliceDoc(), positionAt(view.state.doc, pos)).catch(() => null);
    if (text === null) return null;
    return {
      pos,
      end: pos + word[0].length,
      create: () => {
        const dom = described(text);
        dom.classList.add("cm-hover");
        return { dom };
      },
    };
  };
  return hoverTooltip(source, { hideOnChange: true });
}
