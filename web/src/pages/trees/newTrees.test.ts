import { describe, expect, it } from "vitest";

import { copyOf, nameProblem } from "./newTrees";

describe("the name of a new tree", () => {
  it.each(["mine", "mine_2", "a-b"])("may be %s", (name) => {
    expect(nameProblem(name, ["oracle"])).toBeNull();
  });

  it.each(["oracle", "Mine", "2nd", "a b", "", "../up"])("may not be %j", (name) => {
    expect(nameProblem(name, ["oracle"])).not.toBeNull();
  });
});

it("a copy bears its own name, and is the same else", () => {
  const source = "# tree: oracle\ntree: oracle # shipped\nroot:\n  subtree: oracle\n";
  expect(copyOf(source, "oracle", "mine")).toBe(
    "# tree: oracle\ntree: mine # shipped\nroot:\n  subtree: oracle\n",
  );
});
