// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Connection, Follower, type Open, RefusedError, type StreamEvent } from "./follow";

const WORDS = ["no ", "word ", "is ", "lost ", "or ", "doubled", "."];
const LAST = WORDS.length;

class StatusError extends Error {
  constructor(
    readonly status: number,
    readonly retryAfterS: number | null = null,
  ) {
    super(`status ${String(status)}`);
  }
}

/** One connection: events from `after + 1` to `to`, or what it does instead. */
type Step = { to: number; from?: number; breaks?: boolean } | Error | null;

/** A service that answers each attempt by the next step, and keeps what it was asked for. */
function service(steps: Step[]) {
  const asked: number[] = [];
  const open: Open = (after) => {
    asked.push(after);
    const step = steps.shift();
    if (step === undefined) throw new Error("an attempt more than expected");
    if (step === null) return Promise.resolve(null);
    if (step instanceof Error) return Promise.reject(step);
    return Promise.resolve(events(step.from ?? after + 1, step.to, step.breaks ?? false));
  };
  return { open, asked };
}

async function* events(from: number, to: number, breaks: boolean): AsyncGenerator<StreamEvent> {
  for (let id = from; id <= to; id += 1) {
    await Promise.resolve();
    yield { id, data: WORDS[id - 1] ?? "" };
  }
  if (breaks) throw new TypeError("network error");
}

function follow(steps: Step[], after = 0) {
  const { open, asked } = service(steps);
  const states: Connection[] = [];
  let text = "";
  const follower = new Follower({
    after,
    open,
    onEvent: (event) => {
      text += event.data;
      return event.id === LAST;
    },
    onConnection: (state) => states.push(state),
  });
  const running = follower.run();
  return { follower, running, asked, states, text: () => text, last: () => states.at(-1) };
}

describe("Follower", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  test("a connection that is given up for another one is followed at once, and nothing is said of a loss", async () => {
    const asked: number[] = [];
    const states: string[] = [];
    const follower = new Follower({
      open: (after, signal) => {
        asked.push(after);
        const until = asked.length === 1 ? 2 : LAST;
        return Promise.resolve(
          (async function* () {
            yield* events(after + 1, until, false);
            if (until < LAST)
              await new Promise<unknown>((resolve) => {
                if (signal.aborted) resolve(null);
                else signal.addEventListener("abort", resolve);
              });
          })(),
        );
      },
      onEvent: ({ id }) => {
        if (id === 2) queueMicrotask(() => follower.reopen());
        return id === LAST;
      },
      onConnection: ({ at }) => states.push(at),
    });
    await follower.run();
    expect(asked).toEqual([0, 2]);
    expect(states).toEqual(["opening", "open", "opening", "open", "ended"]);
  });

  test("a stream without trouble", async () => {
    const { running, text, states } = follow([{ to: LAST }]);
    await running;
    expect(text()).toBe(WORDS.join(""));
    expect(states.map((state) => state.at)).toEqual(["opening", "open", "ended"]);
  });

  test.each(Array.from({ length: LAST }, (_, at) => at))(
    "a connection lost after %i events loses and doubles nothing",
    async (to) => {
      const { running, text, asked } = follow([{ to, breaks: true }, { to: LAST }]);
      await vi.runAllTimersAsync();
      await running;
      expect(asked).toEqual([0, to]);
      expect(text()).toBe(WORDS.join(""));
    },
  );

  test("a stream that ends early is taken up again", async () => {
    const { running, text } = follow([{ to: 3 }, { to: LAST }]);
    await vi.runAllTimersAsync();
    await running;
    expect(text()).toBe(WORDS.join(""));
  });

  test("events that come again are dropped", async () => {
    const { running, text } = follow([{ to: 4 }, { from: 1, to: LAST }]);
    await vi.runAllTimersAsync();
    await running;
    expect(text()).toBe(WORDS.join(""));
  });

  test("an event that comes too early is not taken; the missing one is asked for", async () => {
    const { running, text, asked } = follow([{ to: 2 }, { from: 4, to: LAST }, { to: LAST }]);
    await vi.runAllTimersAsync();
    await running;
    expect(asked).toEqual([0, 2, 2]);
    expect(text()).toBe(WORDS.join(""));
  });

  test("it waits 1, 2, 3 s, and 1 s again after an event", async () => {
    const down = new TypeError("network error");
    const { states } = follow([down, down, down, { to: 2, breaks: true }, { to: LAST }]);
    const from = Date.now();
    await vi.runAllTimersAsync();
    const waits = states.flatMap((state) => (state.at === "waiting" ? [(state.until - from) / 1000] : []));
    expect(waits).toEqual([1, 3, 6, 7]);
  });

  test("it says when it tries again, and from which event", async () => {
    const { last } = follow([{ to: 3, breaks: true }, { to: LAST }]);
    await vi.advanceTimersByTimeAsync(0);
    expect(last()).toEqual({ at: "waiting", until: Date.now() + 1000, after: 3 });
    await vi.runAllTimersAsync();
  });

  test.each([
    ["Try now", (follower: Follower) => follower.tryNow()],
    ["being online again", () => void globalThis.dispatchEvent(new Event("online"))],
  ])("%s does not wait", async (_, act) => {
    const { follower, running, text } = follow([{ to: 3, breaks: true }, { to: LAST }]);
    await vi.advanceTimersByTimeAsync(0);
    act(follower);
    await running;
    expect(text()).toBe(WORDS.join(""));
  });

  test("a service that is stopping says how long to wait", async () => {
    const { last, running } = follow([new StatusError(503, 5), { to: LAST }]);
    await vi.advanceTimersByTimeAsync(0);
    expect(last()).toEqual({ at: "waiting", until: Date.now() + 5000, after: 0 });
    await vi.runAllTimersAsync();
    await running;
  });

  test("a service that is not there is waited for", async () => {
    const { running, text } = follow([new StatusError(0), { to: LAST }]);
    await vi.runAllTimersAsync();
    await running;
    expect(text()).toBe(WORDS.join(""));
  });

  test.each([401, 404, 409, 410, 422])("status %i is not tried again", async (status) => {
    const { running, last } = follow([new StatusError(status)]);
    await running;
    expect(last()).toMatchObject({ at: "refused", error: { status } });
  });

  test("an error that must not be retried is a refusal", async () => {
    const cause = new StatusError(503, 5);
    const { running, last } = follow([new RefusedError("no", { cause })]);
    await running;
    expect(last()).toEqual({ at: "refused", error: cause });
  });

  test("nothing more to come is an end", async () => {
    const { running, last } = follow([null], LAST);
    await running;
    expect(last()).toEqual({ at: "ended" });
  });

  test("after a stop nothing is said or opened any more", async () => {
    const { follower, running, states, asked } = follow([{ to: 3, breaks: true }]);
    await vi.advanceTimersByTimeAsync(0);
    const said = states.length;
    follower.stop();
    await running;
    expect(states).toHaveLength(said);
    expect(asked).toHaveLength(1);
  });
});
