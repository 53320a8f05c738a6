import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { EndEvent, HistoryPage, TickEvent } from "./facts";
import { stuckOnce } from "./fixtures";
import { RunLoader } from "./load";
import type { HistoryQuery, RunService, WatchQuery } from "./service";

const whole = stuckOnce();
const NOTHING = {
  turns: [],
  calls: [],
  notices: [],
  texts: [],
  breaches: [],
  debug: [],
  seams: [],
  interrupts: [],
  decisions: [],
};

/** The recorded run as a service has it: a page has so many ticks, and a connection breaks behind one of them. */
class Recorded implements RunService {
  readonly asked: HistoryQuery[] = [];
  readonly watched: WatchQuery[] = [];

  constructor(
    private readonly pageTicks: number,
    private readonly breaksBehind: readonly number[] = [],
    private readonly known = whole.ticks.length,
  ) {}

  history = (query: HistoryQuery): Promise<HistoryPage> => {
    this.asked.push(query);
    const after = query.after ?? 0;
    const end = Math.min(after + Math.min(query.limit ?? 50, this.pageTicks), whole.ticks.length);
    const ticks = whole.ticks.slice(after, end);
    const isRunning = this.known < whole.ticks.length && this.watched.length === 0;
    const next = end < (isRunning ? this.known : whole.ticks.length) ? end : null;
    const run = { ...whole.run, status: isRunning ? ("running" as const) : ("finished" as const) };
    return Promise.resolve({
      ...whole,
      ...NOTHING,
      run,
      ticks,
      next,
      end: next === null && !isRunning ? whole.end : null,
    });
  };

  // eslint-disable-next-line @typescript-eslint/require-await -- it stands for a stream
  async *watch(query: WatchQuery): AsyncGenerator<TickEvent | EndEvent> {
    this.watched.push(query);
    const last = this.breaksBehind[this.watched.length - 1] ?? Infinity;
    for (const tick of whole.ticks.slice(query.after)) {
      if (tick.tick > last) throw new Error("the connection is lost");
      const sent = query.reasons ? tick : { ...tick, visits: [], decision: null };
      yield { type: "tick", tick: sent, omitted_visits: 0, ...NOTHING };
    }
    yield { type: "end", run: whole.run, end: whole.end, problem: "", ...NOTHING };
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("requestAnimationFrame", (apply: () => void) => setTimeout(apply, 16));
  vi.stubGlobal("cancelAnimationFrame", clearTimeout);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a run is loaded", () => {
  it("at once if it is short and has ended", async () => {
    const service = new Recorded(60);
    const loader = new RunLoader(service);
    await loader.start();
    expect([loader.state, loader.model?.lastTick, service.asked.length, service.watched.length]).toEqual([
      "complete",
      22,
      1,
      0,
    ]);
  });

  it("by a stream without reasons if it is long, with those of the tick that is looked at", async () => {
    const service = new Recorded(5);
    const loader = new RunLoader(service);
    const done = loader.start();
    await vi.runAllTimersAsync();
    await done;
    expect(service.watched.map(({ after, reasons }) => [after, reasons])).toEqual([[5, false]]);
    expect(loader.model?.visits(12)).toBeUndefined();
    loader.explain(12);
    await vi.runAllTimersAsync();
    expect(loader.model?.visits(12)?.size).toBe(40);
  });

  it("with reasons while it is under way, over lost connections", async () => {
    const service = new Recorded(3, [8, 15], 3);
    const loader = new RunLoader(service);
    const states: string[] = [];
    loader.subscribe(() => states.push(loader.state));
    const done = loader.start();
    await vi.runAllTimersAsync();
    await done;
    expect(service.watched.map(({ after }) => after)).toEqual([3, 8, 15]);
    expect(states).toEqual(["live", "reconnecting", "live", "reconnecting", "live", "complete"]);
    expect(loader.model?.ticks.map(({ tick }) => tick)).toEqual(whole.ticks.map(({ tick }) => tick));
    expect(loader.model?.visits(21)).toBeDefined();
  });

  it("not at all if the service refuses it", async () => {
    const refusal = Object.assign(new Error("no such run"), { status: 404 });
    const service = new Recorded(5);
    service.history = () => Promise.reject(refusal);
    const loader = new RunLoader(service);
    await loader.start();
    expect([loader.state, loader.error]).toEqual(["failed", refusal]);
  });
});
