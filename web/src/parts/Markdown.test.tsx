// @vitest-environment jsdom
import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { Markdown } from "./Markdown";

const shown = (text: string) => render(<Markdown text={text} />).container;

test.each([
  ["a script", "<script>alert(1)</script>"],
  ["an image with a handler", "<img src=x onerror=alert(1)>"],
  ["a script link", "[x](javascript:alert(1))"],
  ["a data link", "[x](data:text/html,<script>alert(1)</script>)"],
  ["a style", '<p style="position:fixed">x</p>'],
  ["an image from elsewhere", "![x](https://example.org/x.png)"],
])("%s does nothing", (_, text) => {
  const page = shown(text);
  expect(page.querySelector("script, img, style, iframe, [style], [onerror]")).toBeNull();
  for (const link of page.querySelectorAll("a[href]")) expect(link.getAttribute("href")).toMatch(/^https:/);
});

test("links open elsewhere without a way back", () => {
  expect(shown("[x](https://example.org/)").querySelector("a")?.rel).toBe("noopener noreferrer");
});

test("markup that is part of an answer is shown as text", () => {
  expect(shown("Use <b>bold</b>.").textContent).toBe("Use <b>bold</b>.\n");
});
