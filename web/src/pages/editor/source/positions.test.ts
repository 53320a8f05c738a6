import { Text } from "@codemirror/state";
import { describe, expect, it } from "vitest";

import { offsetAt, positionAt } from "./positions";

const doc = Text.of(["tree: a", "é 😀 end", ""]);

describe("places and offsets", () => {
  it.each([
    [{ line: 1, column: 1 }, 0],
    [{ line: 1, column: 7 }, 6],
    [{ line: 2, column: 4 }, 12],
    [{ line: 3, column: 1 }, 17],
  ])("agree on %o", (place, offset) => {
    expect(offsetAt(doc, place)).toBe(offset);
    expect(positionAt(doc, offset)).toEqual(place);
  });

  it("count a character outside of the basic plane once", () => {
    expect(positionAt(doc, doc.line(2).from + 4)).toEqual({ line: 2, column: 4 });
  });

  it("stay inside of the document", () => {
    expect(offsetAt(doc, { line: 9, column: 9 })).toBe(doc.length);
    expect(offsetAt(doc, { line: 0, column: 1 })).toBe(0);
    expect(offsetAt(doc, { line: 1, column: 99 })).toBe(7);
  });
});
