import { describe, expect, it } from "vitest";
import { cachedShare } from "@/run/cache";
import { costWords, inputOf, sumsBy, type Report } from "./figures";

const row = (day: string, model: string, tokens: number, cost: number | null): Report["rows"][number] => ({
  day,
  user_id: "anna",
  model,
  runs: 1,
  turns: 2,
  tokens_used: tokens,
  input_tokens: tokens,
  cache_creation_tokens: 0,
  cache_read_tokens: 5,
  output_tokens: 0,
  auxiliary_requests: 0,
  cache_misses: model === "m" ? { tools_changed: 1 } : {},
  is_estimated: cost === null,
  cost,
});

describe("the sums of what was used", () => {
  const rows = [
    row("2026-01-02", "new", 10, null),
    row("2026-01-02", "m", 20, 1),
    row("2026-01-01", "m", 5, 2),
  ];
  it("are by day as they come, and else the greatest first", () => {
    expect(sumsBy("day", rows).map(([name, sum]) => [name, sum.tokens_used])).toEqual([
      ["2026-01-02", 30],
      ["2026-01-01", 5],
    ]);
    expect(sumsBy("model", rows).map(([name, sum]) => [name, sum.turns])).toEqual([
      ["m", 4],
      ["new", 2],
    ]);
  });
  it("count the runs that have missed the cache by their reasons", () => {
    expect(sumsBy("model", rows).map(([, sum]) => sum.cache_misses)).toEqual([{ tools_changed: 2 }, {}]);
    expect(sumsBy("day", rows).map(([, sum]) => cachedShare(inputOf(sum)))).toEqual(["25 %", "50 %"]);
  });
  it("have a cost only where that of all rows is known", () => {
    const [[, newer], [, older]] = sumsBy("day", rows) as [
      [string, Report["totals"]],
      [string, Report["totals"]],
    ];
    expect([newer.cost, newer.known_cost, newer.is_estimated]).toEqual([null, 1, true]);
    expect([older.cost, older.known_cost, older.is_estimated]).toEqual([2, 2, false]);
  });
});

describe("a cost in words", () => {
  it.each([
    [{ cost: 0, known_cost: 0 }, "$0.00"],
    [{ cost: 1234.567, known_cost: 1234.567 }, "$1,234.57"],
    [{ cost: 0.001234, known_cost: 0.001234 }, "$0.0012"],
    [{ cost: null, known_cost: 0.5 }, "≥ $0.50"],
    [{ cost: null, known_cost: 0 }, "not known"],
  ])("%j is %s", (sum, words) => {
    expect(costWords(sum, "USD")).toBe(words);
  });
});
