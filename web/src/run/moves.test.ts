import { describe, expect, test } from "vitest";
import type { TickFacts } from "./facts";
import { RunModel } from "./model";
import { firstShown, headlineParts, nextAsked, nextError, playedMs, turnFrom } from "./moves";
import { sampleNodes, samplePage, sampleTick, sampleVisit } from "./sample";

const nodes = sampleNodes([
  { parent: null, kind: "sequence", category: "composite" },
  { parent: 0, kind: "condition", category: "condition" },
]);
const asks = (node: number) => ({ visits: [sampleVisit({ node, status: "SUCCESS" })] });
const model = new RunModel(
  samplePage({
    nodes,
    ticks: [
      sampleTick({ tick: 1, turn: 1, at_s: 0, ...asks(1) }),
      sampleTick({ tick: 2, turn: 1, at_s: 0.01, ...asks(0) }),
      sampleTick({ tick: 3, turn: 2, at_s: 0.5, ...asks(1), errors: [["n1", "ValueError: boom"]] }),
      sampleTick({ tick: 4, turn: 2, at_s: 60, ...asks(0) }),
    ],
    end: { reason: "completed", tick: 3, node: 1, sentence: "It ends.", by: "stop" },
  }),
);

/** A run under way that has ticked at these times; it is known why of the ticks with these numbers. */
function runUnderWay(times: readonly number[], explained: readonly number[]): RunModel {
  const ticks = times.map((at_s, at): TickFacts => {
    const { visits, ...plain } = sampleTick({ tick: at + 1, at_s });
    return explained.includes(plain.tick) ? { ...plain, visits: visits ?? [] } : plain;
  });
  return new RunModel(samplePage({ nodes, ticks, run: { status: "running" } }));
}

describe("the tick that is shown", () => {
  test.each([
    ["the last one, before any is explained", [0, 1, 2], [], 2],
    ["the last one, if it is explained", [0, 1, 2], [2, 3], 2],
    ["the newest explained one, while later ones are not", [0, 0.1, 0.2, 0.3], [1, 2], 1],
    ["the last one, if those explained are too old", [0, 0.1, 5], [1, 2], 2],
  ])("of a run under way is %s", (_, times, explained, shown) => {
    expect(firstShown(runUnderWay(times, explained), null)).toBe(shown);
  });

  test("first, the one that decided the end; or the one of the address", () => {
    expect(firstShown(model, null)).toBe(2);
    expect(firstShown(model, 2)).toBe(1);
    expect(firstShown(model, 99)).toBe(3);
  });

  test("a step of a turn leads to the first tick of a turn", () => {
    expect([0, 1, 2, 3].map((at) => turnFrom(model, at, 1))).toEqual([2, 2, 3, 3]);
    expect([0, 1, 2, 3].map((at) => turnFrom(model, at, -1))).toEqual([0, 0, 0, 2]);
  });

  test("errors and the ticks of a node are found round the end", () => {
    expect(nextError(model, 0)).toMatchObject({ at: 2, node: 1 });
    expect(nextError(model, 3)).toMatchObject({ at: 2 });
    expect(nextAsked(model, 1, 0)).toBe(2);
    expect(nextAsked(model, 1, 2)).toBe(0);
    expect(nextAsked(new RunModel(samplePage({ nodes })), 1, 0)).toBeNull();
  });

  test("ticks are played in their time, within bounds", () => {
    expect([0, 1, 2, 3].map((at) => playedMs(model, at))).toEqual([120, 490, 1500, 120]);
  });
});

test.each([
  ["Turn 5 says it is stuck. One more turn.", ["Turn 5 says it is stuck.", "One more turn."]],
  ["It took 1.5 s. Done.", ["It took 1.5 s.", "Done."]],
  ["oracle.yaml says no", ["oracle.yaml says no", ""]],
])("the first sentence of %j", (headline, parts) => {
  expect(headlineParts(headline)).toEqual(parts);
});
