import { describe, expect, it } from "vitest";
import { cachedShare, cacheUse, commonestMiss, inputOf } from "./cache";

describe("what the cache had of the input", () => {
  it("is said of a turn in tokens, with the reason of a miss", () => {
    expect(cacheUse({ input_tokens: 9320, cache_read_tokens: 8900, cache_creation_tokens: 300 })).toEqual({
      used: "8,900 cached · 300 written · 120 fresh",
      missed: "",
    });
    expect(cacheUse({ input_tokens: 500, cache_miss: "tools_changed" })).toEqual({
      used: "",
      missed: "the tools changed",
    });
    expect(cacheUse({ input_tokens: 500 })).toEqual({ used: "", missed: "" });
  });
  it("is a share of the input of all turns", () => {
    const turns = [{ input_tokens: 1000 }, { input_tokens: 1000, cache_read_tokens: 999 }];
    expect(cachedShare(inputOf(turns))).toBe("49 %");
    expect(cachedShare(inputOf([]))).toBe("");
  });
  it("was missed for the reason that most runs had", () => {
    expect(commonestMiss({ unavailable: 2, tools_changed: 3 })).toBe("the tools changed");
    expect(commonestMiss({})).toBe("");
  });
});
