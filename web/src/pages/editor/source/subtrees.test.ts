import { expect, it } from "vitest";

import { treeNameIn } from "./subtrees";

const known = new Set(["fallback", "use_tools"]);

it.each([
  ["- subtree: fallback", 3, "fallback"],
  ["- subtree: { tree: use_tools, with: { a: fallback } }", 0, "use_tools"],
  ["- any_of: [fallback, use_tools]", 22, "use_tools"],
  ["- condition: fallback_used", 15, null],
  ["- llm_turn", 3, null],
])("%s at %i is %s", (line, column, expected) => {
  expect(treeNameIn(line, column, known)).toBe(expected);
});
