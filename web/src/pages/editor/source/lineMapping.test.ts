import { Chunk } from "@codemirror/merge";
import { Text } from "@codemirror/state";
import { expect, it } from "vitest";

import { presentLine } from "./lineMapping";

const saved = Text.of(["a", "bee", "c", "d", ""]);

it.each([
  ["the same text", ["a", "bee", "c", "d", ""], [1, 2, 3, 4, 5]],
  ["a changed line", ["a", "bees", "c", "d", ""], [1, 2, 3, 4, 5]],
  ["new lines", ["a", "new", "new too", "bee", "c", "d", ""], [1, 4, 5, 6, 7]],
  ["a removed line", ["a", "c", "d", ""], [1, null, 2, 3, 4]],
])("%s", (_, lines, expected) => {
  const present = Text.of(lines);
  const chunks = Chunk.build(saved, present);
  expect([1, 2, 3, 4, 5].map((line) => presentLine(saved, present, chunks, line))).toEqual(expected);
});
