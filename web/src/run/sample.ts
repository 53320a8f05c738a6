/** Small histories for tests: a tree of a few nodes, and ticks that name what was asked. */
import type { HistoryPage, NodeFacts, TickFacts, TurnFacts, VisitFacts } from "./facts";

type NodeSketch = Partial<NodeFacts> & Pick<NodeFacts, "kind" | "category">;

/** Nodes whose parents are given by index; lines are counted from 10. */
export function sampleNodes(sketches: readonly (NodeSketch & { parent: number | null })[]): NodeFacts[] {
  return sketches.map((sketch, index) => ({
    index,
    path: `n${String(index)}`,
    name: null,
    slot: "",
    label: sketch.kind,
    file: "oracle.yaml",
    line: 10 + index,
    column: 1,
    summary: "",
    title: sketch.name ?? sketch.kind,
    ...sketch,
  }));
}

export function sampleVisit(visit: Partial<VisitFacts> & Pick<VisitFacts, "node" | "status">): VisitFacts {
  return { parent: null, decider: null, ...visit };
}

export function sampleTick(tick: Partial<TickFacts> & Pick<TickFacts, "tick">): TickFacts {
  const visits = tick.visits ?? [];
  return {
    at_s: tick.tick,
    took_ms: 1,
    turn: 1,
    cause: "outcome",
    causes: [],
    deliveries: [],
    visited: visits.map((visit) => visit.node),
    changes: visits.map((visit) => [visit.node, visit.status]),
    writes: [],
    errors: [],
    marks: marksOf(visits),
    ...tick,
  };
}

const CODES = { SUCCESS: "+", FAILURE: "-", RUNNING: ">", INVALID: "." } as const;

function marksOf(visits: readonly VisitFacts[]): string {
  const byNode = new Map(visits.map((visit) => [visit.node, CODES[visit.status]]));
  const count = Math.max(-1, ...byNode.keys()) + 1;
  return Array.from({ length: count }, (_, node) => byNode.get(node) ?? ".").join("");
}

export function sampleTurn(turn: Partial<TurnFacts> & Pick<TurnFacts, "n">): TurnFacts {
  return { node: null, began_tick: 1, ended_tick: null, began_s: 0, ended_s: null, ...turn };
}

export function samplePage(
  page: Partial<Omit<HistoryPage, "run" | "tree">> & {
    nodes?: NodeFacts[];
    run?: Partial<HistoryPage["run"]>;
  },
): HistoryPage {
  const { nodes = [], run, ...rest } = page;
  return {
    format: "oracle-run",
    version: 1,
    run: {
      id: "d02e564a",
      user_id: "local",
      context_id: "c",
      question: "Why?",
      status: "finished",
      created_at: 0,
      finished_at: 1,
      tree: "oracle",
      tree_version: "45a4acd0",
      model: "m",
      turns: 1,
      tokens_used: 1,
      tokens_estimated: false,
      termination_reason: "completed",
      error: null,
      limits: {},
      kept: "whole",
      ...run,
    },
    tree: { name: "oracle", version: "45a4acd0", file: "oracle.yaml", files: {}, nodes },
    keys: [],
    ticks: [],
    turns: [],
    calls: [],
    notices: [],
    texts: [],
    breaches: [],
    debug: [],
    seams: [],
    interrupts: [],
    decisions: [],
    end: null,
    problem: "",
    unexplained_from: null,
    next: null,
    ...rest,
  };
}
