// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { textOf } from "./answer";
import { AnswerStream, type AnswerService } from "./answerStream";
import type { Chunk } from "./chunks";
import type { StreamEvent } from "./follow";

const WORDS = ["It ", "begins ", "in ", "login.py."];
const CHUNKS: Chunk[] = [
  ...WORDS.map((content): Chunk => ({ type: "content", content })),
  {
    type: "done",
    termination_reason: "completed",
    tokens_used: 812,
    tokens_estimated: false,
    model_used: "m",
    context_id: "c",
    run_id: "r1",
    turns: 1,
  },
];

class StatusError extends Error {
  constructor(readonly status: number) {
    super(String(status));
  }
}

/** The service, with a network that can fail before and after the answer to a request. */
class FakeService implements AnswerService {
  readonly keys: string[] = [];
  readonly resumed: number[] = [];
  readonly cancelled: string[] = [];
  failures: (Error | { after: number })[] = [];

  ask: AnswerService["ask"] = async (_, { key, after }) => {
    this.keys.push(key);
    const failure = this.failures.shift();
    await Promise.resolve();
    if (failure instanceof Error) throw failure;
    return { runId: "r1", events: this.#events(after, failure?.after) };
  };

  resume: AnswerService["resume"] = async (_, after) => {
    this.resumed.push(after);
    const failure = this.failures.shift();
    await Promise.resolve();
    if (failure instanceof Error) throw failure;
    return this.#events(after, failure?.after);
  };

  cancel: AnswerService["cancel"] = (runId) => {
    this.cancelled.push(runId);
    return Promise.resolve();
  };

  async *#events(after: number, until = CHUNKS.length): AsyncGenerator<StreamEvent> {
    for (let id = after + 1; id <= until; id += 1) {
      await Promise.resolve();
      yield { id, data: JSON.stringify(CHUNKS[id - 1]) };
    }
    if (until < CHUNKS.length) throw new TypeError("network error");
  }
}

function ask(failures: FakeService["failures"] = []) {
  const service = new FakeService();
  service.failures = failures;
  const stream = new AnswerStream({ service, question: { question: "Where does it begin?" } });
  return { service, stream, running: stream.run(), view: stream.getSnapshot };
}

const LOST = new TypeError("network error");

describe("AnswerStream", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  test("a question that was asked and answered", async () => {
    const { running, view } = ask();
    await running;
    expect(textOf(view().answer)).toBe("It begins in login.py.");
    expect(view()).toMatchObject({ runId: "r1", connection: { at: "ended" } });
  });

  test("a response that was lost: the same question with the same key", async () => {
    const { service, view, running } = ask([LOST, LOST]);
    await vi.runAllTimersAsync();
    await running;
    expect(new Set(service.keys).size).toBe(1);
    expect(service.keys).toHaveLength(3);
    expect(textOf(view().answer)).toBe("It begins in login.py.");
  });

  test("a connection that was lost in the middle: the run from its last chunk, over a restart", async () => {
    const { service, view, running } = ask([{ after: 2 }, LOST, new StatusError(503), { after: 3 }]);
    await vi.runAllTimersAsync();
    await running;
    expect(service.keys).toHaveLength(1);
    expect(service.resumed).toEqual([2, 2, 2, 3]);
    expect(textOf(view().answer)).toBe("It begins in login.py.");
  });

  test.each([409, 422, 429, 503])("a question refused with %i is not sent again", async (status) => {
    const { service, view, running } = ask([new StatusError(status)]);
    await running;
    expect(service.keys).toHaveLength(1);
    expect(view()).toMatchObject({ runId: null, connection: { at: "refused", error: { status } } });
  });

  test("after a lost response, 503 is waited for: the run may have begun", async () => {
    const { service, view, running } = ask([LOST, new StatusError(503)]);
    await vi.runAllTimersAsync();
    await running;
    expect(service.keys).toHaveLength(3);
    expect(view().connection.at).toBe("ended");
  });

  test("a stop before the run has an id is sent when it has one", async () => {
    const { service, stream, running } = ask([LOST]);
    stream.cancel();
    stream.cancel();
    expect(service.cancelled).toEqual([]);
    await vi.runAllTimersAsync();
    await running;
    expect(service.cancelled).toEqual(["r1"]);
  });

  test("listeners are called once a frame, however many pieces come", async () => {
    const { stream, running } = ask();
    const texts: string[] = [];
    stream.subscribe(() => texts.push(textOf(stream.getSnapshot().answer)));
    await running;
    expect(new Set(texts)).toEqual(new Set(["", "It begins in login.py."]));
  });
});
