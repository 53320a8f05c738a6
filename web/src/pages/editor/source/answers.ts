/** How often each node has answered yes and no in recent runs, behind its line. */

import { RangeSet, StateEffect, StateField } from "@codemirror/state";
import { gutter, GutterMarker } from "@codemirror/view";

import type { NodeAnswers } from "../types";
import { changeField } from "./changes";
import { presentLine } from "./lineMapping";

/** The answers of the saved text's nodes. */
export const setAnswers = StateEffect.define<readonly NodeAnswers[]>();

const answerField = StateField.define<readonly NodeAnswers[]>({
  create: () => [],
  update(before, transaction) {
    return transaction.effects.findLast((effect) => effect.is(setAnswers))?.value ?? before;
  },
});

class Counts extends GutterMarker {
  constructor(
    readonly yes: number,
    readonly no: number,
  ) {
    super();
  }

  override eq(other: Counts) {
    return other.yes === this.yes && other.no === this.no;
  }

  override toDOM() {
    const holder = document.createElement("span");
    holder.className = "cm-answers";
    for (const [name, count] of [
      ["yes", this.yes],
      ["no", this.no],
    ] as const) {
      const figure = holder.appendChild(document.createElement("span"));
      figure.className = `cm-answers-${name}`;
      if (count > 0) {
        figure.textContent = String(count);
        figure.title = `${count} times ${name}`;
      }
    }
    return holder;
  }
}

export const answerMargin = [
  answerField,
  gutter({
    class: "cm-answer-gutter",
    side: "after",
    markers: (view) => {
      const { doc } = view.state;
      const { saved, chunks } = view.state.field(changeField);
      const lines = new Map<number, Counts>(); // several nodes on a line: the outermost stands first
      for (const { line, yes, no } of view.state.field(answerField)) {
        const present = presentLine(saved, doc, chunks, line);
        if (present !== null && !lines.has(present) && yes + no > 0) lines.set(present, new Counts(yes, no));
      }
      return RangeSet.of(
        [...lines].map(([line, counts]) => counts.range(doc.line(line).from)),
        true,
      );
    },
  }),
];
