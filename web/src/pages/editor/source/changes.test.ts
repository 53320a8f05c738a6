import { EditorState } from "@codemirror/state";
import { describe, expect, it } from "vitest";

import { changeCounts, changeField, setSaved } from "./changes";

const start = EditorState.create({ doc: "a\nb\nc\n", extensions: [changeField] });

describe("changed lines", () => {
  it("are none at first", () => {
    expect(changeCounts(start)).toEqual({ added: 0, removed: 0 });
  });

  it.each([
    ["a changed line", { from: 2, to: 3, insert: "x" }, { added: 1, removed: 1 }],
    ["two new lines", { from: 2, insert: "x\ny\n" }, { added: 2, removed: 0 }],
    ["a removed line", { from: 2, to: 4 }, { added: 0, removed: 1 }],
  ])("%s", (_, changes, counts) => {
    expect(changeCounts(start.update({ changes }).state)).toEqual(counts);
  });

  it("are counted against the text that is saved now", () => {
    const edited = start.update({ changes: { from: 0, to: 1, insert: "z" } }).state;
    expect(changeCounts(edited.update({ effects: setSaved.of("z\nb\nc\n") }).state)).toEqual({
      added: 0,
      removed: 0,
    });
  });
});
