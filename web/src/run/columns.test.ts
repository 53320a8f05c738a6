import { describe, expect, it } from "vitest";
import { columnAt, makeColumns, windowAt } from "./columns";
import { stuckOnce } from "./fixtures";

const { ticks } = stuckOnce();
const many = ticks
  .slice(0, 1)
  .flatMap((tick) => Array.from({ length: 200 }, (_, at) => ({ ...tick, tick: at + 1, at_s: at })));
const options = { axis: "equal", room: 264, narrowest: 11, widest: 12 } as const;

describe("columns", () => {
  it("are equally wide, and take no more room than they need", () => {
    const columns = makeColumns(ticks, { ...options, room: 400, narrowest: 14, widest: 17 });
    expect(new Set(columns.w)).toEqual(new Set([17]));
    expect(columns.width).toBe(22 * 17 + 8);
  });

  it("are as wide as their time, but never less than five pixels, and fit where they can", () => {
    const columns = makeColumns(ticks, { ...options, axis: "time" });
    const [first = 0, , , fourth = 0] = columns.w;
    const span = (at: number): number => (ticks[at + 1]?.at_s ?? 0) - (ticks[at]?.at_s ?? 0);
    expect(first / fourth).toBeCloseTo(span(0) / span(3), 1);
    expect(Math.min(...columns.w)).toBe(5);
    expect(columns.total).toBeCloseTo(264 - 8, 6);
  });

  it("show a part around the tick if there are too many", () => {
    const columns = makeColumns(many, options);
    expect(columns.width).toBe(264);
    const shown = windowAt(columns, 100, 0);
    expect(shown.first).toBeLessThan(100);
    expect(shown.end).toBeGreaterThan(100);
    expect(shown.end - shown.first).toBeLessThanOrEqual(26);
    expect(windowAt(columns, 101, shown.from).from).toBe(shown.from);
    expect(windowAt(columns, 199, shown.from).end).toBe(200);
  });

  it("are found by their place", () => {
    const columns = makeColumns(many, options);
    expect(columnAt(columns, -50)).toBe(0);
    expect(columnAt(columns, 11 * 42 + 5)).toBe(42);
    expect(columnAt(columns, 1e9)).toBe(199);
  });
});
