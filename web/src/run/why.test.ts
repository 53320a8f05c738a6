import { describe, expect, test } from "vitest";
import type { TickFacts, TurnFacts } from "./facts";
import { RunModel } from "./model";
import { sampleEvaluation, sampleNodes, samplePage, sampleTick, sampleTurn, sampleVisit } from "./sample";
import { whyOf, type Piece } from "./why";
import { placeOf } from "./words";

const NODES = sampleNodes([
  { parent: null, kind: "loop", category: "composite", name: "turns" }, // 0
  { parent: 0, kind: "turn_budget", category: "guard", slot: "guards" }, // 1
  { parent: 0, kind: "sequence", category: "composite" }, // 2
  { parent: 2, kind: "llm_turn", category: "action" }, // 3
  { parent: 2, kind: "selector", category: "composite", name: "after_turn" }, // 4
  { parent: 4, kind: "subtree", category: "decorator", title: "use_tools" }, // 5
  { parent: 5, kind: "condition", category: "condition" }, // 6
  { parent: 4, kind: "sequence", category: "composite", name: "in_doubt" }, // 7
  { parent: 7, kind: "condition", category: "condition", file: "follow_signal.yaml" }, // 8
  { parent: 7, kind: "grant_turn", category: "action" }, // 9
]);

const GUARDED = [
  sampleVisit({ node: 0, status: "RUNNING", decider: 2 }),
  sampleVisit({
    node: 1,
    parent: 0,
    status: "SUCCESS",
    text: "4 of 10 turns",
    figures: [{ name: "turns", value: 4, limit: 10 }],
  }),
  sampleVisit({ node: 2, parent: 0, status: "SUCCESS", decider: 4 }),
  sampleVisit({ node: 3, parent: 2, status: "SUCCESS", sentence: "Turn 5 says it is stuck." }),
  sampleVisit({ node: 4, parent: 2, status: "SUCCESS", decider: 7 }),
];
const NO_TOOLS = [
  sampleVisit({ node: 5, parent: 4, status: "FAILURE", decider: 6 }),
  sampleVisit({ node: 6, parent: 5, status: "FAILURE", text: "tool_calls 0 → no" }),
];
const GRANTED = [
  sampleVisit({ node: 7, parent: 4, status: "SUCCESS", decider: 9 }),
  sampleVisit({
    node: 8,
    parent: 7,
    status: "SUCCESS",
    evaluations: [
      sampleEvaluation('signal == "stuck" or same_reason >= 3', true, [
        ['signal == "stuck"', true, true],
        ["same_reason >= 3", false, null],
      ]),
    ],
  }),
  sampleVisit({
    node: 9,
    parent: 7,
    status: "SUCCESS",
    sentence: "One more turn is granted: 6 of 10.",
  }),
];
const ENDED = sampleTurn({
  n: 5,
  node: 3,
  ended_tick: 1,
  began_s: 8,
  ended_s: 9.63,
  signal: { type: "stuck", confidence: 0.72 },
});

function stepsOf(tick: Partial<TickFacts>, turns: TurnFacts[] = []) {
  const model = new RunModel(samplePage({ nodes: NODES, ticks: [sampleTick({ tick: 1, ...tick })], turns }));
  return whyOf(model, 0);
}

const text = (pieces: readonly Piece[]) =>
  pieces.map((piece) => (piece.kind === "code" ? `\`${piece.text}\`` : piece.text)).join("");
const sentences = (steps: ReturnType<typeof stepsOf>) => steps?.map((step) => text(step.pieces));

describe("the steps from the root to the decision", () => {
  const steps = stepsOf({ decision: 9, visits: [...GUARDED, ...NO_TOOLS, ...GRANTED] }, [ENDED]);

  test("each is a sentence in the words of the tree", () => {
    expect(sentences(steps)).toEqual([
      "turns goes on: no guard trips. 4 of 10 turns.",
      "llm_turn ended after 1.63 s: turn 5 says it is stuck, 0.72 sure.",
      "use_tools says no: `tool_calls 0`.",
      'in_doubt: `signal == "stuck"` is true.',
      "grant_turn decided: one more turn is granted: 6 of 10.",
    ]);
  });

  test("each leads to its line: that of the condition, where one was true", () => {
    expect(steps?.map((step) => step.node)).toEqual([0, 3, 5, 8, 9]);
    expect(steps?.map((step) => step.decides)).toEqual([false, false, false, false, true]);
    expect(placeOf(NODES[8] ?? NODES[0]!)).toBe("follow_signal:18"); // eslint-disable-line @typescript-eslint/no-non-null-assertion -- there are ten
  });
});

test("a step names the two guards that are nearest to their limits", () => {
  const guard = (node: number, said: string, value: number, limit: number) =>
    sampleVisit({ node, parent: 0, status: "SUCCESS", text: said, figures: [{ name: "", value, limit }] });
  const nodes = sampleNodes([
    { parent: null, kind: "loop", category: "composite", name: "turns" },
    ...[1, 2, 3].map(() => ({ parent: 0, kind: "guard", category: "guard", slot: "guards" }) as const),
    { parent: 0, kind: "say", category: "action" },
  ]);
  const visits = [
    sampleVisit({ node: 0, status: "RUNNING", decider: 4 }),
    guard(1, "4 of 10 turns", 4, 10),
    guard(2, "1 of 120 s", 1, 120),
    guard(3, "9,000 of 50,000 tokens", 9_000, 50_000),
    sampleVisit({ node: 4, parent: 0, status: "SUCCESS" }),
  ];
  const model = new RunModel(samplePage({ nodes, ticks: [sampleTick({ tick: 1, decision: 4, visits })] }));
  expect(sentences(whyOf(model, 0))?.[0]).toBe(
    "turns goes on: no guard trips. 4 of 10 turns, 9,000 of 50,000 tokens.",
  );
});

test("a node error has its own step, and so has the branch that was left because of it", () => {
  const failed = sampleVisit({
    node: 8,
    parent: 7,
    status: "FAILURE",
    errors: ["ExpressionError: null > 0.7"],
    evaluations: [
      sampleEvaluation("risk > 0.7", null, [], "null > 0.7 compares neither two numbers nor two texts."),
    ],
  });
  const steps = stepsOf({
    decision: 5,
    visits: [
      ...GUARDED.slice(0, 3),
      sampleVisit({ node: 4, parent: 2, status: "SUCCESS", decider: 5 }),
      sampleVisit({ node: 7, parent: 4, status: "FAILURE", decider: 8 }),
      failed,
      sampleVisit({ node: 5, parent: 4, status: "SUCCESS", sentence: "The tree use_tools said yes." }),
    ],
  });
  expect(sentences(steps)?.slice(1)).toEqual([
    "in_doubt: `risk > 0.7` failed. null > 0.7 compares neither two numbers nor two texts.",
    "An error counts as “no”: in_doubt was left because of it, not by its conditions.",
    "use_tools decided: the tree use_tools said yes.",
  ]);
});

test("an error beside the way is not left out", () => {
  const raised = sampleVisit({ node: 1, parent: 0, status: "FAILURE", errors: ["ValueError: boom."] });
  const steps = stepsOf({ decision: 0, visits: [sampleVisit({ node: 0, status: "FAILURE" }), raised] });
  expect(sentences(steps)).toEqual([
    "turns decided: no.",
    "turn_budget: it raised an error, which counts as no: ValueError: boom.",
  ]);
});

test("many branches that said no share a step", () => {
  const nodes = sampleNodes([
    { parent: null, kind: "selector", category: "composite", name: "topics" },
    ...["a", "b", "c", "d", "e"].map((name) => ({ parent: 0, kind: "say", category: "action", name })),
  ]);
  const visits = nodes.map((node) =>
    sampleVisit({ node: node.index, parent: node.parent, status: node.name === "e" ? "SUCCESS" : "FAILURE" }),
  );
  const model = new RunModel(samplePage({ nodes, ticks: [sampleTick({ tick: 1, decision: 5, visits })] }));
  expect(sentences(whyOf(model, 0))).toEqual(["a, b, c and 1 more say no.", "e decided: yes."]);
});

test("a reason that says no itself does not say it twice", () => {
  const nodes = sampleNodes([
    { parent: null, kind: "selector", category: "composite", name: "strategies" },
    ...["first", "second"].map((name) => ({ parent: 0, kind: "try_strategy", category: "action", name })),
  ]);
  const visits = [
    sampleVisit({ node: 0, parent: null, status: "SUCCESS" }),
    sampleVisit({ node: 1, parent: 0, status: "FAILURE", text: "no: failed_tools is empty" }),
    sampleVisit({ node: 2, parent: 0, status: "SUCCESS" }),
  ];
  const model = new RunModel(samplePage({ nodes, ticks: [sampleTick({ tick: 1, decision: 2, visits })] }));
  expect(sentences(whyOf(model, 0))).toEqual([
    "first says no: `failed_tools is empty`.",
    "second decided: yes.",
  ]);
});

test("a tick whose reasons are not loaded differs from one that no node decided", () => {
  const model = new RunModel(samplePage({ nodes: NODES, run: { status: "running" } }));
  const tick = sampleTick({ tick: 1, decision: 9 });
  model.takeLive([{ ...samplePage({}), type: "tick", tick, omitted_visits: 0 }], [undefined]);
  expect(whyOf(model, 0)).toBeUndefined();
  expect(stepsOf({ decision: null, visits: GUARDED })).toEqual([]);
});

test("a visit that names itself as its parent ends the way", () => {
  const steps = stepsOf({ decision: 7, visits: [sampleVisit({ node: 7, parent: 7, status: "SUCCESS" })] });
  expect(steps).toEqual([]);
});
