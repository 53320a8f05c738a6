import { describe, expect, it } from "vitest";
import { stuckOnce, treeOf } from "./fixtures";
import { matchLines } from "./lineDiff";
import { sourceOf } from "./source";
import { Versions } from "./versions";

describe("two texts", () => {
  it.each([
    ["a b c", "a b c", [0, 1, 2]],
    ["a b c", "a x c", [0, -1, 2]],
    ["a b c d", "b d e", [-1, 0, -1, 1]],
    ["", "a", [-1]],
  ])("%s and %s share their common lines", (old, fresh, matched) => {
    expect([...matchLines(old.split(" "), fresh.split(" "))]).toEqual(matched);
  });
});

describe("two versions of a tree", () => {
  const old = treeOf(stuckOnce());
  const changed = (old.files["fallback.yaml"] ?? "").replace("strategies < 1 and", "strategies < 2 and");
  const fresh = { ...old, version: "new", files: { ...old.files, "fallback.yaml": changed } };
  const versions = new Versions(old, fresh);
  const removed = sourceOf(old).rows.filter((row) => versions.isRemoved(row.index));

  it("differ in the lines that were changed", () => {
    expect(removed.map(({ file, line }) => `${file}:${line}`)).toEqual(["fallback.yaml:26"]);
    const added = versions.addedBehind(removed[0]?.index ?? -1);
    expect(added.map(({ text }) => text)).toEqual(["- condition: strategies < 2 and turn_left"]);
  });

  it("have the same nodes by their paths", () => {
    expect(old.nodes.map((node) => versions.newNode(node.index))).toEqual(
      old.nodes.map((node) => node.index),
    );
  });
});
