import { expect, test } from "vitest";
import type { Source } from "@/run/source";
import { findRow } from "./searching";

const rows = ["sequence:", "# a comment", "- stop: stuck", "- Stop: completed"].map((text, index) => ({
  index,
  text,
  owner: 0,
  nodes: [],
}));
const source = { rows } as unknown as Source; // the rows alone are looked at

test("words are found below and above, round the ends, whatever their case", () => {
  expect(findRow(source, "stop", null)).toBe(2);
  expect(findRow(source, " STOP ", 2)).toBe(3);
  expect(findRow(source, "stop", 3)).toBe(2);
  expect(findRow(source, "stop", 3, -1)).toBe(2);
  expect(findRow(source, "stop", 2, -1)).toBe(3);
  expect(findRow(source, "stop", null, -1)).toBe(3);
  expect(findRow(source, "nowhere", null)).toBeNull();
  expect(findRow(source, " ", null)).toBeNull();
});
