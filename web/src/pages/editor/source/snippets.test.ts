import { describe, expect, it } from "vitest";

import { snippetTemplate } from "./snippets";

describe("a snippet", () => {
  it.each([
    ["retry:\n  attempts: $1\n  child: $0", "retry:\n  attempts: ${1:}\n  child: ${}"],
    ["stop: ${1|completed,stuck|}", "stop: ${1:completed}"],
    ["name: ${1:text}", "name: ${1:text}"],
    ['"\\$1 and \\}"', '"$1 and }"'],
    ['{ condition: "$1" }', '{ condition: "${1:}" }'],
  ])("%j", (lsp, template) => {
    expect(snippetTemplate(lsp)).toBe(template);
  });
});
