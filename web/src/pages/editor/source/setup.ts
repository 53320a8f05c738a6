/** The editor of a tree's source: what CodeMirror is made of here. */

import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
} from "@codemirror/view";

import { answerMargin } from "./answers";
import { type Breakable, breakpoints } from "./breakpoints";
import { changeGutter } from "./changes";
import { type Complete, completion } from "./completion";
import { highlighting } from "./highlighting";
import { type Describe, hovering } from "./hovering";
import { indenting } from "./indenting";
import { fixCurrent, nextProblem, problems } from "./problems";
import { wrapping } from "./wrapping";

/** The nonce that the page's policy allows styles by; CodeMirror makes a style sheet. */
export const nonce = () => document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";

/** Whether the text can be changed; it may change while the editor is shown. */
export const access = new Compartment();

export function accessOf(isReadOnly: boolean): Extension {
  return [
    EditorState.readOnly.of(isReadOnly),
    EditorView.contentAttributes.of(isReadOnly ? { "aria-readonly": "true" } : {}),
    isReadOnly ? EditorView.editable.of(false) : [],
  ];
}

export interface SourceOptions {
  text: string;
  isReadOnly: boolean;
  label: string;
  complete: Complete;
  describe: Describe;
  onOpenSubtree: (view: EditorView) => boolean;
  onBreakpoint: (node: Breakable) => void;
  more: Extension;
}

export function sourceState({
  text,
  isReadOnly,
  label,
  complete,
  describe,
  onOpenSubtree,
  onBreakpoint,
  more,
}: SourceOptions): EditorState {
  return EditorState.create({
    doc: text,
    extensions: [
      EditorView.cspNonce.of(nonce()),
      text.includes("\r\n") ? EditorState.lineSeparator.of("\r\n") : [], // the file keeps its line ends
      access.of(accessOf(isReadOnly)),
      yaml(),
      indenting,
      indentUnit.of("  "),
      EditorState.tabSize.of(2),
      EditorView.contentAttributes.of({
        "aria-label": label,
        "aria-description": "Tab indents. To leave the text by keyboard, press Escape, then Tab.",
        tabindex: "0",
      }),
      problems,
      breakpoints(onBreakpoint),
      changeGutter,
      answerMargin,
      highlighting,
      wrapping,
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      highlightSelectionMatches(),
      search({ top: true }),
      completion(complete),
      hovering(describe),
      keymap.of([
        { key: "F8", run: nextProblem },
        { key: "F12", run: onOpenSubtree },
        { key: "Mod-.", run: fixCurrent },
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...defaultKeymap,
        indentWithTab,
      ]),
      more,
    ],
  });
}
