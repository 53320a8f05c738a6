import { describe, expect, it } from "vitest";

import type { ReplayedRun } from "../types";
import { consequence, headline, summary, tokensSaved } from "./replays";

const run = (more: Partial<ReplayedRun>): ReplayedRun => ({
  tree: "oracle",
  run_id: "ab",
  question: null,
  verdict: "same",
  difference: null,
  old_end: "completed",
  new_end: "completed",
  unknown: null,
  turns_saved: 0,
  tokens_saved: 0,
  tracks: [],
  ...more,
});
const difference = {
  tick: 13,
  path: "a/b",
  file: "fallback.yaml",
  line: 25,
  in: "new" as const,
  old: null,
  new: null,
  answer: null,
};

describe("the sentence on a replayed run", () => {
  it.each([
    [run({}), "The same, tick by tick."],
    [
      run({ verdict: "differs", difference, new_end: "stuck" }),
      "The same until tick 13. Then it ends as stuck.",
    ],
    [
      run({ verdict: "differs", difference, new_end: null }),
      "The same until tick 13. Then it takes another path.",
    ],
    [
      run({ verdict: "another_way", difference }),
      "The same until tick 13. Then other nodes, with the same result.",
    ],
    [run({ verdict: "unknown", new_end: null }), "Not known."],
  ])("%#", (replayed, sentence) => {
    expect(headline(replayed)).toBe(sentence);
  });
});

it("counts what becomes of all", () => {
  const runs = [
    ...Array.from({ length: 17 }, () => run({})),
    ...Array.from({ length: 2 }, () => run({ verdict: "differs", difference, new_end: "stuck" })),
    run({ verdict: "unknown", new_end: null }),
  ];
  expect(summary(runs)).toBe("17 do the same. 2 end otherwise: 2 as stuck. The rest of 1 run is not known.");
});

describe("what the edit would have saved", () => {
  it("is said of a run that would have ended earlier, and of all together", () => {
    const stuck = run({ old_end: "completed", new_end: "stuck", turns_saved: 3, tokens_saved: 21_200 });
    expect(consequence(stuck)).toBe("The recorded run went on for 3 turns; this tree would end it as stuck.");
    expect(tokensSaved([stuck, run({}), stuck])).toBe("Together they would have used 42,400 fewer tokens.");
    expect(tokensSaved([run({ tokens_saved: -500 })])).toBe("Together they would have used 500 more tokens.");
  });
  it("is not said where it is not known, or nothing", () => {
    expect(consequence(run({ new_end: null, turns_saved: null }))).toBeNull();
    expect(consequence(run({}))).toBeNull();
    expect(tokensSaved([run({ tokens_saved: null }), run({})])).toBeNull();
  });
});
