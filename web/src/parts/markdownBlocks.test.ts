import { Lexer, marked } from "marked";
import { expect, test } from "vitest";
import { growBlocks, NO_BLOCKS, type MarkdownBlock } from "./markdownBlocks";

const htmlOf = ({ text, links }: MarkdownBlock): string => {
  const lexer = new Lexer();
  for (const [label, link] of links) lexer.tokens.links[label] = link;
  return marked.parser(lexer.lex(text));
};

const TEXTS = {
  paragraphs: "One.\n\nTwo\ngoes on.\n\nThree.\n\nFour.\n",
  "a heading by the line below": "Before.\n\nTitle\n---\n\nText.\n\nMore.\n\nEnd.",
  "a list that goes on after a blank line":
    "Steps:\n\n1. one\n\n2. two\n\n   inside\n\n3. three\n\nAfter.\n\nEnd.\n",
  "a code block with blank lines": "See:\n\n```py\na = 1\n\n\nb = 2\n```\n\nSo.\n\nAnd **so**.\n\nEnd.",
  "a table": "T:\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nAfter.\n\n> quote\n> more\n\nEnd.",
  "blank lines before": "\n\n## One\n\nTwo.\n\nThree.\n\nFour.",
  "links that are defined below":
    "See [one][1] and [Two  words].\n\nMore.\n\n## Links\n\n[1]: https://a.b/c\n[two words]: <d> 't'\n",
  "links that are defined above, and twice":
    "[x]: https://first\n\nOne.\n\nTwo.\n\n[x]: https://second\n\nSee [x].\n\nEnd.",
  "links that are defined in a quote": "See [x].\n\nOne.\n\n> [x]: https://a.b\n\nTwo.\n\nEnd.",
  "labels like names of the language":
    "[__proto__], [constructor].\n\nOne.\n\nTwo.\n\n[__proto__]: https://a.b\n\nEnd.",
  "a code block that is not closed": "See:\n\nThis:\n\n```\nx\n\ny\n\nz",
};

test.each(Object.entries(TEXTS))("%s: in pieces it reads as the whole does", (_, text) => {
  for (const size of [1, 3, 7]) {
    let blocks = NO_BLOCKS;
    for (let at = 0; at < text.length; at += size) blocks = growBlocks(blocks, text.slice(0, at + size));
    const all = [...blocks.settled, blocks.open];
    expect(all.map((block) => block.text).join("")).toBe(text);
    expect(all.map(htmlOf).join("")).toBe(marked.parse(text, { async: false }));
  }
});

test("settled blocks are not parsed again, and stay the same objects", () => {
  const before = growBlocks(NO_BLOCKS, "One.\n\nTwo.\n\nThree.\n\nFour");
  const after = growBlocks(before, "One.\n\nTwo.\n\nThree.\n\nFour goes on");
  expect(before.settled.map((block) => block.text)).toEqual(["One.\n\n", "Two.\n\n"]);
  expect(after.settled).toBe(before.settled);
});

test("a definition changes the blocks that refer to it, and no others", () => {
  const text = "One [x].\n\nTwo [y].\n\nThree.\n\nFour.\n\n";
  const before = growBlocks(NO_BLOCKS, text);
  const after = growBlocks(before, `${text}[x]: https://a.b`);
  expect(after.settled[0]).not.toBe(before.settled[0]);
  expect(after.settled[0]?.links.get("x")?.href).toBe("https://a.b");
  expect(after.settled[1]).toBe(before.settled[1]);
  const later = growBlocks(after, `${text}[x]: https://a.b\n\nEnd.\n\nEnd.\n\nEnd.`);
  expect(later.settled[0]).toBe(after.settled[0]);
});

test("blank lines before the first block are no block of their own", () => {
  expect(growBlocks(NO_BLOCKS, "\n\nOne.\n\nTwo.\n\nThree.").settled[0]?.text).toBe("\n\nOne.\n\n");
  expect(growBlocks(NO_BLOCKS, "\n\n").open.text).toBe("\n\n");
});

test("another text begins anew", () => {
  expect(growBlocks(growBlocks(NO_BLOCKS, "One.\n\nTwo.\n\nThree."), "Other.").open.text).toBe("Other.");
});
