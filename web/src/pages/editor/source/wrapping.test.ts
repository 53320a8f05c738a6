import { expect, test } from "vitest";
import { restColumn } from "./wrapping";

test.each([
  ["tree: oracle", 2],
  ["      # a comment", 8],
  ["    - condition: true", 6],
  ["", 2],
])("the rest of %j begins at column %i", (line, column) => {
  expect(restColumn(line)).toBe(column);
});
