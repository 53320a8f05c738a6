import { expect, test } from "vitest";
import { spoken, spokenLength } from "./sentences";

test.each([
  ["nothing before a sentence ends", "It is in login", ""],
  ["a sentence with its end", "It is in login.py. It beg", "It is in login.py. "],
  ["a version number is no end", "Python 3.11 has", ""],
  ["a line of a list", "- one\n- tw", "- one\n"],
  ["nothing of an open code block", "See:\n```py\nx = 1.\ny", ""],
  ["a closed code block", "See:\n```py\nx = 1\n```\nThe", "See:\n```py\nx = 1\n```\n"],
])("%s", (_, text, said) => {
  expect(text.slice(0, spokenLength(text))).toBe(said);
});

test("each sentence is said once, however the text comes", () => {
  const text = "One. Two is *longer*.\n\n- three\n- four: five!\n";
  let said = 0;
  let heard = "";
  for (let length = 1; length <= text.length; length += 1) {
    const next = spokenLength(text.slice(0, length), said);
    heard += text.slice(said, next);
    said = next;
  }
  expect(heard).toBe(text);
});

test("Markdown is said without its marks", () => {
  expect(spoken("## Why\n\n**Because** `run.py:3` [waits](http://x).\n\n```py\nx = 1\n```\n- one")).toBe(
    "Why Because run.py:3 waits. Code block. one",
  );
});
