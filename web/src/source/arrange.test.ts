import { expect, test } from "vitest";
import { stuckOnce, treeOf } from "@/run/fixtures";
import { RunModel } from "@/run/model";
import { arrange, leftOf } from "./arrange";

test("behind the base indents are as wide as they are, up to it they are narrower and keep their order", () => {
  expect([56, 72, 96].map((x) => leftOf(x, 56))).toEqual([20, 36, 60]);
  const before = [0, 8, 16, 24, 48].map((x) => leftOf(x, 56));
  expect(before).toEqual([...new Set(before)].sort((a, b) => a - b));
  expect(before.at(-1)).toBeLessThan(20);
});

test("without a base, or with one that is narrow enough, indents stay as they are", () => {
  expect([-8, 0, 8, 56].map((x) => leftOf(x, 0))).toEqual([0, 0, 8, 56]);
  expect([-8, 0, 8, 56].map((x) => leftOf(x, 16))).toEqual([0, 0, 8, 56]);
});

test("a line that only the second tree has stands among the edges of the first, wherever its own tree has it", () => {
  const page = stuckOnce();
  const tree = treeOf(page);
  const fallback = (tree.files["fallback.yaml"] ?? "").replace("strategies < 1 and", "strategies < 2 and");
  const rows = (tree.rows ?? []).filter((row) => row.kind !== "comment" || row.file !== "oracle.yaml");
  const fresh = { ...tree, version: "new", files: { ...tree.files, "fallback.yaml": fallback }, rows };
  const other = { model: new RunModel({ ...page, tree: fresh }), at: 12 };
  const sizes = { codeWidth: 600, charWidth: 7, viewHeight: 800, mostSticky: 4 };
  const { shown } = arrange(new RunModel(page), {
    at: 12,
    follow: false,
    opened: new Map(),
    other,
    ...sizes,
  });
  const added = shown.findIndex(({ sign }) => sign === "+");
  expect(shown[added]?.beside).toBe(shown[added - 1]?.row);
  expect(shown[added]?.row.index).toBeLessThan(shown[added - 1]?.row.index ?? 0);
});
