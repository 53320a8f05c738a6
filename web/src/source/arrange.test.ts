import { expect, test } from "vitest";
import { leftOf } from "./arrange";

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
