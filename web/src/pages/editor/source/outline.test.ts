import { yaml } from "@codemirror/lang-yaml";
import { ensureSyntaxTree } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { describe, expect, it } from "vitest";

import { nodesOf, pathAt } from "./outline";

const created = EditorState.create({
  doc: `tree: fallback
blackboard:
  strategies:
    type: int
root:
  sequence:
    - classify_response # reads
    - condition: a != b
    - selector:
        - sequence:
            name: other_strategy
            children:
              - set: { strategies: strategies + 1 }
              - re
`,
  extensions: [yaml()],
});
// A state is parsed for some milliseconds only: on a busy machine that is not the whole text.
ensureSyntaxTree(created, created.doc.length, 10_000);
const state = created.update({}).state;

const path = (line: number, column: number) =>
  pathAt(state, state.doc.line(line).from + column).map((step) => step.label);

describe("the path at the cursor", () => {
  it.each([
    ["a field of the file", 1, 8, ["tree"]],
    ["a key of the blackboard", 4, 12, ["blackboard", "strategies", "type"]],
    ["a node without settings", 7, 10, ["root", "sequence", "classify_response"]],
    ["a node", 8, 20, ["root", "sequence", "condition"]],
    ["the end of a line", 8, 23, ["root", "sequence", "condition"]],
    ["a named node", 11, 20, ["root", "sequence", "selector", "other_strategy"]],
    ["the indent of a child", 13, 2, ["root", "sequence", "selector", "other_strategy", "set"]],
    ["a kind that is being typed", 14, 18, ["root", "sequence", "selector", "other_strategy", "re"]],
    ["an empty line", 15, 0, []],
  ])("of %s", (_, line, column, expected) => {
    expect(path(line, column)).toEqual(expected);
  });
});

it("lists the nodes of a file, by their names or kinds", () => {
  expect(nodesOf(state)).toEqual([
    { label: "sequence", line: 6 },
    { label: "classify_response", line: 7 },
    { label: "condition", line: 8 },
    { label: "selector", line: 9 },
    { label: "other_strategy", line: 10 },
    { label: "set", line: 13 },
    { label: "re", line: 14 },
  ]);
});
