/**
 * The mistakes and warnings of the service in the source: underlined, with a band on the line, a mark in the gutter and
 * the message at the end of the line. They move with the text until the next check replaces them.
 */

import {
  type ChangeDesc,
  type EditorState,
  RangeSet,
  StateEffect,
  StateField,
  type Text,
} from "@codemirror/state";
import {
  type Command,
  Decoration,
  type DecorationSet,
  EditorView,
  gutter,
  GutterMarker,
  hoverTooltip,
  WidgetType,
} from "@codemirror/view";

import type { Fix, Mistake } from "../types";
import { offsetAt } from "./positions";

interface Replacement {
  from: number;
  to: number;
  insert: string;
}

/** A fix with its places in the present document. */
export interface PlacedFix {
  title: string;
  changes: Replacement[];
}

/** A mistake or warning with its place in the present document. */
export interface PlacedProblem {
  mistake: Mistake;
  from: number;
  to: number;
  fixes: PlacedFix[];
}

/** Replaces all problems; they were found in the text as it is now. */
export const setProblems = StateEffect.define<readonly Mistake[]>();

export const problemField = StateField.define<readonly PlacedProblem[]>({
  create: () => [],
  update(problems, transaction) {
    let now = problems;
    if (transaction.docChanged) now = now.map((problem) => moved(problem, transaction.changes));
    for (const effect of transaction.effects) {
      if (effect.is(setProblems)) now = effect.value.map((mistake) => placed(transaction.state.doc, mistake));
    }
    return now;
  },
});

/** The problem that the cursor stands on; else the first on its line; else the first of all. */
export function currentProblem(state: EditorState): PlacedProblem | null {
  const problems = state.field(problemField);
  const at = state.selection.main.head;
  const line = state.doc.lineAt(at);
  return (
    problems.find((problem) => problem.from <= at && at <= problem.to) ??
    problems.find((problem) => problem.from >= line.from && problem.from <= line.to) ??
    problems[0] ??
    null
  );
}

/** Apply a fix, and put the cursor behind it. */
export function applyFix(view: EditorView, fix: PlacedFix): void {
  const changes = view.state.changes(fix.changes);
  const last = fix.changes.at(-1);
  view.dispatch({
    changes,
    ...(last && { selection: { anchor: changes.mapPos(last.to, 1) } }),
    scrollIntoView: true,
    userEvent: "input.fix",
  });
  view.focus();
}

/** Apply the first fix of the current problem. */
export const fixCurrent: Command = (view) => {
  const fix = currentProblem(view.state)?.fixes[0];
  if (!fix || view.state.readOnly) return false;
  applyFix(view, fix);
  return true;
};

/** Go to the next problem behind the cursor, then to the first. */
export const nextProblem: Command = (view) => {
  const problems = view.state.field(problemField);
  const at = view.state.selection.main.head;
  const next = problems.find((problem) => problem.from > at) ?? problems[0];
  if (!next) return false;
  view.dispatch({
    selection: { anchor: next.from },
    effects: EditorView.scrollIntoView(next.from, { y: "center" }),
  });
  return true;
};

function placed(doc: Text, mistake: Mistake): PlacedProblem {
  const from = offsetAt(doc, mistake);
  const end = { line: mistake.end_line ?? mistake.line, column: mistake.end_column ?? mistake.column };
  const line = doc.lineAt(from);
  const to = Math.max(Math.min(offsetAt(doc, end), line.to), Math.min(from + 1, line.to));
  return { mistake, from, to, fixes: mistake.fixes.map((fix) => placedFix(doc, fix)) };
}

function placedFix(doc: Text, fix: Fix): PlacedFix {
  const changes = fix.edits.map((edit) => ({
    from: offsetAt(doc, edit),
    to: offsetAt(doc, { line: edit.end_line, column: edit.end_column }),
    insert: edit.text,
  }));
  return { title: fix.title, changes };
}

function moved(problem: PlacedProblem, changes: ChangeDesc): PlacedProblem {
  const fixes = problem.fixes.map((fix) => ({
    ...fix,
    changes: fix.changes.map((change) => ({
      ...change,
      from: changes.mapPos(change.from),
      to: changes.mapPos(change.to),
    })),
  }));
  return { ...problem, from: changes.mapPos(problem.from), to: changes.mapPos(problem.to), fixes };
}

/** What stands at the end of the line: the hint, if it says what to write. */
export function shortMessage(mistake: Mistake): string {
  const hint = mistake.hint?.trim();
  const words = hint?.startsWith("did you mean") ? hint : mistake.message;
  return words.charAt(0).toUpperCase() + words.slice(1);
}

class Message extends WidgetType {
  constructor(
    readonly text: string,
    readonly severity: Mistake["severity"],
    readonly inline: boolean,
  ) {
    super();
  }

  override eq(other: Message) {
    return other.text === this.text && other.severity === this.severity && other.inline === this.inline;
  }

  override toDOM() {
    const holder = document.createElement("span");
    holder.className = `cm-problem-message cm-problem-message-${this.severity}`;
    if (this.inline) holder.classList.add("cm-problem-message-inline");
    holder.setAttribute("aria-hidden", "true"); // the list of problems is what screen readers get
    const words = holder.appendChild(document.createElement("span"));
    words.className = "cm-problem-message-text";
    words.textContent = this.text;
    return holder;
  }

  override ignoreEvent() {
    return false;
  }
}

const bands = {
  error: Decoration.line({ class: "cm-problem-line cm-problem-line-error" }),
  warning: Decoration.line({ class: "cm-problem-line cm-problem-line-warning" }),
};
const squiggles = {
  error: Decoration.mark({ class: "cm-problem-mark cm-problem-mark-error" }),
  warning: Decoration.mark({ class: "cm-problem-mark cm-problem-mark-warning" }),
};

function decorated(state: EditorState): DecorationSet {
  const found = [];
  const messages = new Map<number, Mistake>(); // by line: the worst, then the first
  for (const { mistake, from, to } of state.field(problemField)) {
    const line = state.doc.lineAt(from);
    if (to > from) found.push(squiggles[mistake.severity].range(from, to));
    const known = messages.get(line.from);
    if (!known || (known.severity === "warning" && mistake.severity === "error"))
      messages.set(line.from, mistake);
  }
  const cursor = state.doc.lineAt(state.selection.main.head).from;
  for (const [at, mistake] of messages) {
    found.push(bands[mistake.severity].range(at));
    // Where the cursor is nothing may cover the text: there the message stands behind it.
    const isHere = at === cursor;
    const widget = new Message(shortMessage(mistake), mistake.severity, isHere);
    const end = state.doc.lineAt(at).to;
    found.push(Decoration.widget({ widget, side: isHere ? 2 : -2 }).range(isHere ? end : at));
  }
  return Decoration.set(found, true);
}

class Mark extends GutterMarker {
  constructor(readonly severity: Mistake["severity"]) {
    super();
  }

  override eq(other: Mark) {
    return other.severity === this.severity;
  }

  override toDOM() {
    const SVG = "http://www.w3.org/2000/svg";
    const icon = document.createElementNS(SVG, "svg");
    icon.setAttribute("viewBox", "0 0 16 16");
    icon.setAttribute("class", `cm-problem-icon cm-problem-icon-${this.severity}`);
    const shape = icon.appendChild(document.createElementNS(SVG, "path"));
    shape.setAttribute("d", this.severity === "error" ? "M8 .8 15.2 8 8 15.2.8 8z" : "M8 1.2 15.6 14.6H.4z");
    const sign = icon.appendChild(document.createElementNS(SVG, "path"));
    sign.setAttribute("class", "cm-problem-icon-sign");
    sign.setAttribute("d", this.severity === "error" ? "M8 4.6v4M8 10.4v1.2" : "M8 6v4M8 11.6v1.2");
    return icon;
  }
}

const marks = { error: new Mark("error"), warning: new Mark("warning") };

const problemGutter = gutter({
  class: "cm-problem-gutter",
  markers: (view) => {
    const worst = new Map<number, Mistake["severity"]>();
    for (const { mistake, from } of view.state.field(problemField)) {
      const at = view.state.doc.lineAt(from).from;
      if (worst.get(at) !== "error") worst.set(at, mistake.severity);
    }
    return RangeSet.of(
      [...worst].map(([at, severity]) => marks[severity].range(at)),
      true,
    );
  },
  initialSpacer: () => marks.error,
});

const problemsAt = (view: EditorView, at: number) => {
  const here = view.state.field(problemField).filter((problem) => problem.from <= at && at <= problem.to);
  const first = here[0];
  if (!first) return null;
  return {
    pos: first.from,
    end: first.to,
    create: () => {
      const dom = document.createElement("div");
      dom.className = "cm-problem-tooltip";
      for (const { mistake } of here) {
        dom.appendChild(document.createElement("p")).textContent = mistake.message;
        if (mistake.hint) {
          const hint = dom.appendChild(document.createElement("p"));
          hint.className = "cm-problem-tooltip-hint";
          hint.textContent = mistake.hint;
        }
      }
      return { dom };
    },
  };
};

const tooltip = hoverTooltip(problemsAt, { hideOnChange: true });

/** Everything that shows problems. */
export const problems = [
  problemField,
  problemGutter,
  EditorView.decorations.compute(["doc", "selection", problemField], decorated),
  tooltip,
];
