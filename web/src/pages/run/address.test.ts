import { describe, expect, test } from "vitest";
import { FIRST_VIEW, readAddress, writeAddress } from "./address";

describe("the address", () => {
  test("keeps the whole view", () => {
    const view = { tick: 13, node: 0, axis: "time", tab: "board", follow: false, graph: true } as const;
    expect(readAddress(writeAddress(view))).toEqual(view);
    expect(writeAddress(FIRST_VIEW)).toBe("");
  });

  test("takes what is wrong for left out", () => {
    expect(readAddress("?tick=0&node=-1&axis=x&tab=<b>&lines=&view=1")).toEqual(FIRST_VIEW);
    expect(readAddress("?tick=1e9").tick).toBeNull();
  });
});
