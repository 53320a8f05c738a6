// @vitest-environment jsdom
import { expect, it } from "vitest";

import { described } from "./markup";

it("shows paragraphs, code and strong words", () => {
  const shown = described("Its **child** again, `attempts` times.\n\n```yaml\nretry: 2\n```\n");
  expect(shown.innerHTML).toBe(
    "<p>Its <strong>child</strong> again, <code>attempts</code> times.</p><pre>retry: 2</pre>",
  );
});

it("never makes markup of what it is given", () => {
  expect(described("<img src=x onerror=alert(1)> `<b>`").querySelector("img, b")).toBeNull();
});
