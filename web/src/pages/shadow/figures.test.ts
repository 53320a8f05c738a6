import { describe, expect, it } from "vitest";
import { countsOf, mean, range, signed, verdictOf } from "./figures";

describe("the figures of shadow runs", () => {
  it("have a sign where they are differences", () => {
    expect([signed(-1.24), signed(0), signed(12_345)]).toEqual(["−1.2", "0", "+12.3k"]);
    expect(mean(0.5)).toBe("0.5");
  });
  it("are decided where the whole interval lies on one side of nothing", () => {
    expect(verdictOf({ estimate: -2, low: -3, high: -1 })).toBe("less");
    expect(verdictOf({ estimate: 2, low: 1, high: 3 })).toBe("more");
    expect(verdictOf({ estimate: 1, low: -1, high: 3 })).toBe("open");
    expect(verdictOf({ estimate: 1, low: null, high: null })).toBe("open");
  });
  it("have no interval of a single pair", () => {
    expect(range({ estimate: 1, low: null, high: null })).toBe("too few pairs");
    expect(range({ estimate: -1, low: -2, high: 0.5 })).toBe("−2.0 to +0.5");
  });
  it("count what has become of all pairs", () => {
    const none = { groups: [], further_groups: 0, method: "" };
    const report = {
      ...none,
      pairs: 3,
      running: 1,
      dropped: { "queue full": 1 },
      failed: {},
      is_complete: true,
    };
    expect(countsOf(report)).toBe("3 pairs · 1 running · 1 dropped (queue full)");
    expect(countsOf({ ...report, is_complete: false })).toMatch(/^The newest 3 pairs/);
  });
});
