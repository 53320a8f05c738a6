import { expect, it } from "vitest";

import { indentBehind } from "./indenting";

it.each([
  ["root:", 2],
  ["    - condition: a > 1", 4],
  ["    - sequence:", 8],
  ["        children:", 10],
  ["        hint: >- # why", 10],
  ["  # says:", 2],
  ["  text of a block", 2],
  ["", 0],
])("behind %j a line begins at %i", (line, indent) => {
  expect(indentBehind(line)).toBe(indent);
});
