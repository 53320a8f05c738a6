// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";

import { draftNames, dropDraft, keepDraft, readDraft } from "./drafts";

beforeEach(() => {
  sessionStorage.clear();
});

describe("a draft", () => {
  it("is there after a reload, with the version that it was made from", () => {
    keepDraft("oracle", { text: "tree: oracle\n", base: "ab" });
    expect(readDraft("oracle")).toEqual({ text: "tree: oracle\n", base: "ab" });
    expect(draftNames()).toEqual(["oracle"]);
  });

  it("goes when it is dropped", () => {
    keepDraft("oracle", { text: "x", base: null });
    dropDraft("oracle");
    expect(readDraft("oracle")).toBeNull();
    expect(draftNames()).toEqual([]);
  });

  it.each(["{", "[]", '{"text": 1, "base": null}', '{"text": "x"}'])(
    "that cannot be read is none: %s",
    (kept) => {
      sessionStorage.setItem("oracle.draft.oracle", kept);
      expect(readDraft("oracle")).toBeNull();
    },
  );
});
