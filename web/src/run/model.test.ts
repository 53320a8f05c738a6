import { describe, expect, it, vi } from "vitest";
import type { HistoryPage, TickEvent } from "./facts";
import { stuckOnce, treeOf } from "./fixtures";
import { VisitMerger } from "./live";
import { Mark } from "./marks";
import { RunModel } from "./model";

const whole = stuckOnce();

/** A page of the ticks behind `after`, as the service cuts them. */
function pageOf(after: number, limit: number): HistoryPage {
  const ticks = whole.ticks.filter(({ tick }) => tick > after && tick <= after + limit);
  const end = after + limit;
  const isIn = ({ tick }: { tick: number }): boolean => tick > after && tick <= end;
  const isEnded = ({ ended_tick }: { ended_tick: number | null }): boolean =>
    ended_tick !== null && ended_tick > after && ended_tick <= end;
  return {
    ...whole,
    ticks,
    turns: whole.turns.filter(isEnded),
    calls: whole.calls.filter(isEnded),
    notices: whole.notices.filter(isIn),
    texts: whole.texts.filter(isIn),
    next: end < whole.ticks.length ? end : null,
  };
}

function eventOf(tick: number): TickEvent {
  const { ticks, turns, calls, notices, texts, breaches, debug, seams, interrupts, decisions } = pageOf(
    tick - 1,
    1,
  );
  const [facts] = ticks;
  if (facts === undefined) throw new Error(`there is no tick ${tick}`);
  const belonging = { turns, calls, notices, texts, breaches, debug, seams, interrupts, decisions };
  return { type: "tick", tick: facts, omitted_visits: 0, ...belonging };
}

describe("a run", () => {
  it("is the same by pages, by live ticks and as a whole", () => {
    const model = new RunModel(whole);
    const paged = new RunModel(pageOf(0, 5));
    for (let after = 5; after < 22; after += 5) paged.take(pageOf(after, 5));
    const live = new RunModel({ ...pageOf(0, 3), run: { ...whole.run, status: "running" } });
    for (let tick = 4; tick <= 22; tick++) live.takeLive([eventOf(tick)], [whole.ticks[tick - 1]?.visits]);
    for (const other of [paged, live]) {
      expect(other.ticks).toEqual(model.ticks);
      expect(other.turns).toEqual(model.turns);
      expect(other.calls).toEqual(model.calls);
      expect(other.notices).toEqual(model.notices);
      expect(other.texts).toEqual(model.texts);
      for (let at = 0; at < 22; at++) {
        expect(other.visits(at)).toEqual(model.visits(at));
        for (const { index } of treeOf(whole).nodes)
          expect(other.mark(index, at)).toBe(model.mark(index, at));
      }
    }
    expect(model.isComplete).toBe(true);
    expect(live.isComplete).toBe(false);
  });

  it("has marks of what is carried on and of guards that hold", () => {
    const model = new RunModel(whole);
    const nodeOf = (path: string): number => model.nodes.findIndex((node) => node.path.endsWith(path));
    expect(model.mark(nodeOf("turns"), 12)).toBe(Mark.running);
    expect(model.mark(nodeOf("turns/cancelled"), 12)).toBe(Mark.guard);
    expect(model.mark(nodeOf("give_up"), 12)).toBe(Mark.notAsked);
    expect(model.mark(nodeOf("question_to_the_user"), 12)).toBe(Mark.failure);
    expect(model.mark(0, 99)).toBe(Mark.notAsked);
  });

  it("knows the value of a key after each tick", () => {
    const model = new RunModel(whole);
    expect([-1, 11, 12, 21].map((at) => model.value("strategies", at))).toEqual([0, 0, 1, 1]);
    expect(model.value("no such key", 3)).toBeUndefined();
  });

  it("replaces what belonged to no tick yet when its tick comes", () => {
    const loose = {
      ...pageOf(0, 1),
      next: null,
      texts: [{ type: "content", tick: 2, turn: 1, at_s: 1, text: "I wi" }],
    };
    const model = new RunModel({ ...loose, run: { ...whole.run, status: "running" } });
    const said = { type: "content", tick: 2, turn: 1, at_s: 1, text: "I will look." };
    model.takeLive([{ ...eventOf(2), texts: [said] }], [[]]);
    expect(model.texts).toEqual([said]);
  });

  it("takes the reasons of a tick later, and tells once", () => {
    const plain = whole.ticks.map((tick) => ({ ...tick, decision: null, headline: "" }));
    const model = new RunModel({ ...pageOf(0, 1), next: 1 });
    const told = vi.fn();
    model.subscribe(told);
    model.takeLive(
      plain.slice(1).map((tick) => ({ ...eventOf(tick.tick), tick })),
      plain.slice(1).map(() => undefined),
    );
    expect([model.visits(12), model.decision(12)]).toEqual([undefined, null]);
    model.take(pageOf(12, 1));
    expect(model.visits(12)?.size).toBe(40);
    expect(
      model
        .path(12)
        .map((node) => model.nodes[node]?.kind)
        .at(-1),
    ).toBe("grant_turn");
    expect(model.notices).toEqual(whole.notices);
    expect(told).toHaveBeenCalledTimes(2);
  });

  it("of 2,000 ticks and 400 nodes keeps marks in bytes, and reasons of the latest ticks alone", () => {
    const tree = treeOf(whole);
    const [sample] = tree.nodes;
    if (sample === undefined) throw new Error("no node");
    const nodes = Array.from({ length: 400 }, (_, index) => ({
      ...sample,
      index,
      path: `n${index}`,
      parent: index === 0 ? null : 0,
    }));
    const [first] = whole.ticks;
    if (first === undefined) throw new Error("no tick");
    const visited = nodes.map(({ index }) => index);
    const visits = nodes.map(({ index }) => ({
      node: index,
      status: "SUCCESS" as const,
      parent: 0,
      decider: null,
    }));
    const model = new RunModel({ ...whole, tree: { ...tree, nodes }, ticks: [], next: 0 });
    for (let tick = 1; tick <= 2000; tick++) {
      const marks = `${"+".repeat(tick % 400)}-`;
      model.takeLive([{ ...eventOf(1), tick: { ...first, tick, visited, marks, errors: [] } }], [visits]);
    }
    expect(model.mark(7, 406)).toBe(Mark.failure);
    expect(model.visits(1999)?.size).toBe(400);
    expect(model.visits(0)).toBeUndefined();
    expect(
      Array.from({ length: 2000 }, (_, at) => model.visits(at)).filter(Boolean).length,
    ).toBeLessThanOrEqual(75);
  });
});

it("visits that a stream leaves out are those before", () => {
  const merger = new VisitMerger();
  const tick = eventOf(13);
  const visits = merger.whole(tick);
  const some = { ...tick, tick: { ...tick.tick, visits: [] }, omitted_visits: visits.length };
  expect(merger.whole(some)).toEqual(visits);
});
