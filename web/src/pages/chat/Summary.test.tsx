import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Summary } from "./Summary";

test("a summary is folded, and its text is shown as it is", () => {
  const shown = renderToStaticMarkup(<Summary text={"Goals:\n<b>none</b>"} />);
  expect(shown).toMatch(/^<details [^>]*><summary/);
  expect(shown).toContain("Goals:\n&lt;b&gt;none&lt;/b&gt;");
});

test("a notification without a summary has nothing to fold", () => {
  expect(renderToStaticMarkup(<Summary text={undefined} />)).toBe("");
});
