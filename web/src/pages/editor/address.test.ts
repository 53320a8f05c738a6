import { expect, test } from "vitest";

import { placeIn, replayedIn, treeHref, viewIn } from "./address";

const RUN = "4f02c1aa4f02c1aa4f02c1aa4f02c1aa";

test("an address names a place, a view and a run", () => {
  expect(placeIn("line=14&column=9")).toEqual({ line: 14, column: 9 });
  expect(placeIn("line=14")).toEqual({ line: 14, column: 1 });
  expect(viewIn("view=versions", true)).toBe("versions");
  expect(replayedIn(`replay=${RUN}`)).toBe(RUN);
});

test("what an address cannot mean is left out", () => {
  expect(placeIn("line=-1")).toBeNull();
  expect(placeIn("line=x&column=2")).toBeNull();
  expect(viewIn("view=versions", false)).toBe("source");
  expect(replayedIn("replay=../../settings")).toBeNull();
  expect(replayedIn("")).toBeNull();
});

test("the run goes along to another tree", () => {
  expect(treeHref("fallback", { replay: RUN })).toBe(`/trees/fallback?replay=${RUN}`);
  expect(treeHref("fallback", { line: 3, replay: null })).toBe("/trees/fallback?line=3");
  expect(treeHref("a b")).toBe("/trees/a%20b");
});
