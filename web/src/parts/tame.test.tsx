// @vitest-environment jsdom
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test } from "vitest";
import { spoken } from "@/stream/sentences";
import { sourceNamed } from "@/stream/sourceLinks";
import { Markdown } from "./Markdown";
import { growBlocks, NO_BLOCKS } from "./markdownBlocks";
import { isTame } from "./tame";

const HOSTILE: readonly (readonly [string, string])[] = [
  ["quotes in quotes", "> ".repeat(50_000)],
  ["quotes without spaces", ">".repeat(50_000)],
  ["lists in lists", "- ".repeat(50_000) + "x"],
  ["stars in a row", "* ".repeat(50_000) + "x"],
  ["numbers in numbers", "1. ".repeat(50_000)],
  ["a table of short rows", "|a".repeat(300) + "\n" + "|-".repeat(300) + "\n" + "|b\n".repeat(10_000)],
  ["what may be an address", "a.".repeat(50_000) + "@"],
  ["very much", "a b c. ".repeat(200_000)],
];

describe("a hostile text is shown as it was written, at once", () => {
  test.each(HOSTILE)("%s", (_, text) => {
    const began = performance.now();
    const shown = renderToStaticMarkup(createElement(Markdown, { text }));
    growBlocks(NO_BLOCKS, text);
    spoken(text);
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(shown).toContain("markdown-plain");
    expect(shown.length).toBeGreaterThan(text.length / 2);
  });
});

test.each([
  ["brackets", "[".repeat(100_000)],
  ["links that are not closed", "[a](".repeat(30_000)],
  ["line ends", `a${"\n".repeat(100_000)}b`],
  ["spaces", `a${" ".repeat(100_000)}b`],
  ["signs of headings", "#".repeat(100_000)],
  ["fences", "```\n".repeat(30_001)],
])("what is said of hostile texts is found at once: %s", (_, text) => {
  const began = performance.now();
  spoken(text);
  expect(performance.now() - began).toBeLessThan(1_000);
});

test("a very long piece of code names no place", () => {
  const began = performance.now();
  expect(sourceNamed(`${"a/".repeat(100_000)}:x`, [])).toBeNull();
  expect(performance.now() - began).toBeLessThan(500);
});

test.each([
  ["a table", "|a|b|\n|-|-|\n" + "|c|d|\n".repeat(500)],
  ["a rule", "- ".repeat(38)],
  ["a list in a quote", "> > - a\n> >   1. b"],
  ["a token", `\`${"eyJhbGciOi.J9-_".repeat(130)}\``],
  ["code with wide indents", `\`\`\`\n${" ".repeat(300)}x\n\`\`\``],
])("%s is Markdown", (_, text) => {
  expect(isTame(text)).toBe(true);
});
