import { marked } from "marked";
import { expect, test } from "vitest";
import { growBlocks, NO_BLOCKS } from "./markdownBlocks";

const TEXTS = {
  paragraphs: "One.\n\nTwo\ngoes on.\n\nThree.\n\nFour.\n",
  "a heading by the line below": "Before.\n\nTitle\n---\n\nText.\n\nMore.\n\nEnd.",
  "a list that goes on after a blank line":
    "Steps:\n\n1. one\n\n2. two\n\n   inside\n\n3. three\n\nAfter.\n\nEnd.\n",
  "a code block with blank lines": "See:\n\n```py\na = 1\n\n\nb = 2\n```\n\nSo.\n\nAnd **so**.\n\nEnd.",
  "a table": "T:\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nAfter.\n\n> quote\n> more\n\nEnd.",
  "blank lines before": "\n\n## One\n\nTwo.\n\nThree.\n\nFour.",
  "a code block that is not closed": "See:\n\nThis:\n\n```\nx\n\ny\n\nz",
};

test.each(Object.entries(TEXTS))("%s: in pieces it reads as the whole does", (_, text) => {
  for (const size of [1, 3, 7]) {
    let blocks = NO_BLOCKS;
    for (let at = 0; at < text.length; at += size) blocks = growBlocks(blocks, text.slice(0, at + size));
    expect(blocks.settled.join("") + blocks.open).toBe(text);
    const html = [...blocks.settled, blocks.open]
      .map((each) => marked.parse(each, { async: false }))
      .join("");
    expect(html).toBe(marked.parse(text, { async: false }));
  }
});

test("settled blocks are not parsed again, and stay the same objects", () => {
  const before = growBlocks(NO_BLOCKS, "One.\n\nTwo.\n\nThree.\n\nFour");
  const after = growBlocks(before, "One.\n\nTwo.\n\nThree.\n\nFour goes on");
  expect(before.settled).toEqual(["One.\n\n", "Two.\n\n"]);
  expect(after.settled).toBe(before.settled);
});

test("blank lines before the first block are no block of their own", () => {
  expect(growBlocks(NO_BLOCKS, "\n\nOne.\n\nTwo.\n\nThree.").settled).toEqual(["\n\nOne.\n\n"]);
  expect(growBlocks(NO_BLOCKS, "\n\n").open).toBe("\n\n");
});

test("another text begins anew", () => {
  expect(growBlocks(growBlocks(NO_BLOCKS, "One.\n\nTwo.\n\nThree."), "Other.").open).toBe("Other.");
});
