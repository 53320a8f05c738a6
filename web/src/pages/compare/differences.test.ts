import { describe, expect, it } from "vitest";
import type { TreeFacts } from "@/run/facts";
import type { RunModel } from "@/run/model";
import {
  alignedTo,
  boardDifferences,
  differingParts,
  lineDifferences,
  nextDifference,
  partsAtTick,
  type Difference,
} from "./differences";

const difference = (ticks: number[]): Difference => ({
  answers: [],
  further_ticks: 0,
  input: null,
  new_end: "stuck",
  old_end: "completed",
  ticks: ticks.map((tick) => ({ tick, nodes: [] })),
  way: { kind: "effect", tick: 4 },
});

describe("where runs part", () => {
  it("is the first tick with other results; without any, where something else was done", () => {
    expect(partsAtTick(difference([13, 14]))).toBe(13);
    expect(partsAtTick(difference([]))).toBe(4);
    expect(partsAtTick({ ...difference([]), way: null })).toBe(0);
  });
  it("the next difference comes round again", () => {
    expect(nextDifference(difference([13, 14]), 1)).toBe(13);
    expect(nextDifference(difference([13, 14]), 13)).toBe(14);
    expect(nextDifference(difference([13, 14]), 14)).toBe(13);
    expect(nextDifference(difference([]), 1)).toBeNull();
  });
});

const run = (turns: number[], values: Record<string, unknown> = {}) =>
  ({
    ticks: turns.map((turn) => ({ turn })),
    keyNames: Object.keys(values),
    value: (key: string) => values[key],
  }) as unknown as RunModel;

it("ticks are beside each other by number, or by their place in a turn", () => {
  const [a, b] = [run([1, 1, 2, 2, 3]), run([1, 2, 2, 2])];
  expect([0, 2, 4].map((at) => alignedTo(a, b, at, "tick"))).toEqual([0, 2, 3]);
  expect([0, 1, 2, 3, 4].map((at) => alignedTo(a, b, at, "turn"))).toEqual([0, 0, 1, 2, 3]);
});

it("the blackboard shows what differs and counts the rest", () => {
  const [a, b] = [run([1], { x: 1, y: [1], z: "" }), run([1], { x: 2, y: [1], z: "" })];
  expect(boardDifferences(a, b, 0, 0)).toEqual({ different: [{ key: "x", a: 1, b: 2 }], same: 2 });
});

describe("lines of two versions", () => {
  const tree = (text: string) => ({ files: { "t.yaml": text } }) as unknown as TreeFacts;
  const diff = (one: string, other: string) => lineDifferences(tree(one), tree(other));
  it("one that was changed", () => {
    expect(diff("a\nb\nc", "a\nB\nc")).toEqual([{ file: "t.yaml", line: 2, removed: ["b"], added: ["B"] }]);
  });
  it("some that were added, and some that are gone, are kept apart", () => {
    expect(diff("a\nb\nc\nd", "a\nnew\nb\nc")).toEqual([
      { file: "t.yaml", line: 2, removed: [], added: ["new"] },
      { file: "t.yaml", line: 4, removed: ["d"], added: [] },
    ]);
  });
  it("none in equal files", () => {
    expect(diff("a\n", "a\n")).toEqual([]);
    expect(lineDifferences(null, tree("a"))).toEqual([]);
  });
});

it("says once what both headlines begin with", () => {
  const both = "Turn 5 says it is stuck. ";
  expect(differingParts(`${both}One more turn is granted.`, `${both}The query stops.`)).toEqual([
    "One more turn is granted.",
    "The query stops.",
  ]);
  expect(differingParts("A tool returned.", "")).toEqual(["A tool returned.", ""]);
});
