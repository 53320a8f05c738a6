import { describe, expect, it } from "vitest";
import { afterKey, capOf, capText, onStep, readEntry, warnsAt, WORDS, type Bounds } from "./fields";

const bounds = (changes: Partial<Bounds> = {}): Bounds => ({
  description: "",
  default: 50_000,
  minimum: 1_000,
  maximum: 200_000,
  ceiling: null,
  tree: null,
  ...changes,
});

describe("what is typed", () => {
  it.each([
    ["50000", 50_000],
    [" 50,000 ", 50_000],
    ["50 000", 50_000],
    ["1000", 1_000],
    ["200000", 200_000],
    ["2e4", 20_000],
  ])("%j is a value", (text, value) => {
    expect(readEntry(text, bounds())).toEqual({ value, problem: null });
  });
  it.each([
    ["900", "900 is too low. Between 1,000 and 200,000."],
    ["0", "0 is too low. Between 1,000 and 200,000."],
    ["-5", "-5 is too low. Between 1,000 and 200,000."],
    ["200001", "200,001 is too high. Between 1,000 and 200,000."],
    ["", "A number is missing. Between 1,000 and 200,000."],
    ["many", "“many” is not a number. Between 1,000 and 200,000."],
    ["1,5,", "“1,5,” is not a number. Between 1,000 and 200,000."],
    ["1500.5", "1500.5 is not a whole number. Between 1,000 and 200,000."],
    ["Infinity", "“Infinity” is not a number. Between 1,000 and 200,000."],
  ])("%j is refused with what would be right", (text, problem) => {
    expect(readEntry(text, bounds())).toEqual({ value: null, problem });
  });
});

describe("the slider", () => {
  const words = WORDS.token_budget;
  it("lands on its steps and on its ends", () => {
    expect(onStep(51_237, bounds(), 1_000)).toBe(51_000);
    expect(onStep(1_100, bounds(), 1_000)).toBe(1_000);
    expect(onStep(500_000, bounds(), 1_000)).toBe(200_000);
    expect(onStep(12, bounds({ minimum: 10, maximum: 600 }), 5)).toBe(10);
    expect(onStep(14, bounds({ minimum: 10, maximum: 600 }), 5)).toBe(15);
    expect(onStep(1, bounds({ minimum: 1, maximum: 50 }), 1)).toBe(1);
  });
  it("moves by arrows, pages and to its ends, and never beyond them", () => {
    const after = (key: string, value: number) => afterKey(key, value, bounds(), words);
    expect(after("ArrowRight", 50_000)).toBe(51_000);
    expect(after("ArrowDown", 1_200)).toBe(1_000);
    expect(after("PageUp", 195_000)).toBe(200_000);
    expect(after("PageDown", 50_000)).toBe(40_000);
    expect(after("Home", 50_000)).toBe(1_000);
    expect(after("End", 50_000)).toBe(200_000);
    expect(after("a", 50_000)).toBeNull();
  });
});

describe("who allows less", () => {
  const turns = bounds({ minimum: 1, maximum: 50, ceiling: 50, tree: 30 });
  it("is the strictest of operator and tree, if it is below the slider's end", () => {
    expect(capOf(turns)).toEqual({ limit: 30, by: "tree" });
    expect(capOf({ ...turns, ceiling: 10 })).toEqual({ limit: 10, by: "operator" });
    expect(capOf({ ...turns, tree: null })).toBeNull();
  });
  it("is named where it matters", () => {
    expect(capText("max_iterations", 40, capOf(turns), "oracle")).toBe(
      "The tree oracle allows 30 turns (max_turns), so the limit is 30.",
    );
    expect(capText("max_iterations", 30, capOf(turns), "oracle")).toBe("");
    expect(capText("token_budget", 60_000, { limit: 20_000, by: "operator" }, "oracle")).toBe(
      "Your operator allows 20,000 tokens, so the limit is 20,000.",
    );
  });
  it("warns from a whole turn on", () => {
    expect(warnsAt(30, 70)).toBe(21);
    expect(warnsAt(3, 70)).toBe(3);
  });
});
