import { yaml } from "@codemirror/lang-yaml";
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";

import { highlighting } from "./source/highlighting";
import { nonce } from "./source/setup";
import { wrapping } from "./source/wrapping";
import "./Difference.css";

interface DifferenceProps {
  before: string;
  after: string;
  label?: string;
}

const CONTEXT_LINES = 3;

/** What differs between two texts, one below the other; equal parts are folded. */
export function Difference({ before, after, label = "Difference from the saved version" }: DifferenceProps) {
  const holder = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const parent = holder.current;
    if (!parent || before === after) return;
    const view = new EditorView({
      parent,
      state: EditorState.create({
        doc: after,
        extensions: [
          EditorView.cspNonce.of(nonce()),
          EditorState.readOnly.of(true),
          EditorView.editable.of(false),
          EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
          lineNumbers(),
          yaml(),
          highlighting,
          wrapping,
          unifiedMergeView({
            original: before,
            mergeControls: false,
            gutter: true,
            highlightChanges: true,
            collapseUnchanged: { margin: CONTEXT_LINES, minSize: 2 * CONTEXT_LINES },
          }),
        ],
      }),
    });
    return () => view.destroy();
  }, [before, after, label]);
  if (before === after) return <p className="p-4 text-ink-3">There is no difference.</p>;
  return <div className="editor-difference flex-1 min-h-0 source-editor" ref={holder} />;
}
