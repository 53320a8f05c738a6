import { EditorView } from "@codemirror/view";
import { type Ref, useEffect, useImperativeHandle, useRef } from "react";

import type { Mistake, NodeAnswers } from "../types";
import { setAnswers } from "./answers";
import { type Breakable, setBreakable } from "./breakpoints";
import { type ChangeCounts, changeCounts, setSaved } from "./changes";
import type { Complete } from "./completion";
import type { Describe } from "./hovering";
import { nodesOf, pathAt, type Step } from "./outline";
import { offsetAt, type Position, positionAt } from "./positions";
import { applyFix, currentProblem, problemField, setProblems } from "./problems";
import { access, accessOf, sourceState } from "./setup";
import "./SourceEditor.css";

export interface Cursor extends Position {
  path: Step[];
}

/** What the page does with the editor beside what it shows. */
export interface SourceHandle {
  goTo: (place: Position) => void;
  /** Apply a fix of one of the present problems: by the numbers of both. */
  fix: (problem: number, fix: number) => void;
  /** The nodes of the text, in its order. */
  nodes: () => Step[];
}

interface SourceEditorProps {
  ref: Ref<SourceHandle>;
  label: string;
  text: string;
  saved: string;
  isReadOnly: boolean;
  /** Found in `text`; null while it is being checked. */
  mistakes: readonly Mistake[] | null;
  /** Of the nodes of the saved text. */
  answers: readonly NodeAnswers[];
  /** The nodes that can have a breakpoint. */
  breakable: readonly Breakable[];
  complete: Complete;
  describe: Describe;
  onChange: (text: string) => void;
  onCounts: (counts: ChangeCounts) => void;
  onCursor: (cursor: Cursor) => void;
  /** The number of the problem that a fix would be applied to by keyboard; -1: none. */
  onProblem: (current: number) => void;
  onOpenSubtree: (view: EditorView) => boolean;
  onBreakpoint: (node: Breakable) => void;
}

/** The text of a tree, edited. CodeMirror holds the text; what it is to hold instead comes by `text`. */
export function SourceEditor(props: SourceEditorProps) {
  const { ref, label, text, saved, isReadOnly, mistakes, answers, breakable } = props;
  const holder = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });

  useEffect(() => {
    const parent = holder.current;
    if (!parent) return;
    const first = latest.current;
    const listener = EditorView.updateListener.of((update) => {
      const now = latest.current;
      const { state } = update;
      if (update.docChanged) {
        const next = state.sliceDoc();
        if (next !== now.text) now.onChange(next);
      }
      const isSaved = update.transactions.some((each) => each.effects.some((effect) => effect.is(setSaved)));
      if (update.docChanged || isSaved) now.onCounts(changeCounts(state));
      if (update.docChanged || update.selectionSet) now.onCursor(cursorOf(update.view));
      const problem = currentProblem(state);
      now.onProblem(problem ? state.field(problemField).indexOf(problem) : -1);
    });
    const view = new EditorView({
      parent,
      state: sourceState({
        text: first.text,
        isReadOnly: first.isReadOnly,
        label: first.label,
        complete: (source, at, signal) => latest.current.complete(source, at, signal),
        describe: (source, at) => latest.current.describe(source, at),
        onOpenSubtree: (opened) => latest.current.onOpenSubtree(opened),
        onBreakpoint: (node) => latest.current.onBreakpoint(node),
        more: listener,
      }),
    });
    editor.current = view;
    view.dispatch({ effects: setSaved.of(first.saved) });
    return () => {
      view.destroy();
      editor.current = null;
    };
  }, []);

  useEffect(() => {
    const view = editor.current;
    if (view && view.state.sliceDoc() !== text) replaceText(view, text);
  }, [text]);

  useEffect(() => {
    editor.current?.dispatch({ effects: setSaved.of(saved) });
  }, [saved]);

  useEffect(() => {
    editor.current?.dispatch({ effects: access.reconfigure(accessOf(isReadOnly)) });
  }, [isReadOnly]);

  useEffect(() => {
    editor.current?.dispatch({ effects: setAnswers.of(answers) });
  }, [answers]);

  useEffect(() => {
    editor.current?.dispatch({ effects: setBreakable.of(breakable) });
    editor.current?.requestMeasure(); // lines with targets are higher
  }, [breakable]);

  useEffect(() => {
    if (mistakes) editor.current?.dispatch({ effects: setProblems.of(mistakes) });
  }, [mistakes]);

  useImperativeHandle(ref, () => ({
    goTo: (place) => {
      const view = editor.current;
      if (!view) return;
      const at = offsetAt(view.state.doc, place);
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      view.focus();
    },
    fix: (problem, fix) => {
      const view = editor.current;
      const found = view?.state.field(problemField)[problem]?.fixes[fix];
      if (view && found) applyFix(view, found);
    },
    nodes: () => (editor.current ? nodesOf(editor.current.state) : []),
  }));

  return <div className="source-editor" ref={holder} data-label={label} />;
}

function cursorOf(view: EditorView): Cursor {
  const at = view.state.selection.main.head;
  return { ...positionAt(view.state.doc, at), path: pathAt(view.state, at) };
}

/** Replace what differs, so that the cursor stays where the text is the same. */
function replaceText(view: EditorView, text: string): void {
  const now = view.state.doc.toString();
  const next = text.replace(/\r\n?/g, "\n");
  let start = 0;
  while (start < now.length && start < next.length && now[start] === next[start]) start += 1;
  let end = 0;
  const most = Math.min(now.length, next.length) - start;
  while (end < most && now[now.length - 1 - end] === next[next.length - 1 - end]) end += 1;
  view.dispatch({
    changes: { from: start, to: now.length - end, insert: next.slice(start, next.length - end) },
  });
}
