// @vitest-environment jsdom
import { afterEach, expect, test, vi } from "vitest";
import { AnswerStream, type AnswerService } from "./answerStream";
import type { StreamEvent } from "./follow";

/** The locks of a browser, as far as they are used: first come, first served; who has given up is left out. */
class FakeLocks {
  readonly queue: { name: string; grant: () => Promise<void>; signal: AbortSignal }[] = [];
  private isHeld = false;

  request(name: string, { signal }: { signal: AbortSignal }, grant: () => Promise<void>): Promise<void> {
    return new Promise((_, reject) => {
      this.queue.push({ name, grant, signal });
      signal.addEventListener("abort", () => {
        const at = this.queue.findIndex((each) => each.signal === signal);
        if (at >= 0) this.queue.splice(at, 1);
        reject(new DOMException("given up", "AbortError"));
      });
      this.next();
    });
  }

  query() {
    return Promise.resolve({ pending: this.queue.map(({ name }) => ({ name })) });
  }

  private next(): void {
    const first = this.isHeld ? undefined : this.queue.shift();
    if (!first) return;
    this.isHeld = true;
    void first.grant().then(() => {
      this.isHeld = false;
      this.next();
    });
  }
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("answers that nobody looks at share one connection by turns; one that is looked at again has its own", async () => {
  vi.useFakeTimers();
  vi.stubGlobal("navigator", { locks: new FakeLocks() });
  const open = new Set<string>();
  const turns = new Set<string>();
  let most = 0;
  const service: AnswerService = {
    ask: () => Promise.reject(new Error("not asked")),
    cancel: () => Promise.resolve(),
    resume: (runId, _, signal) => Promise.resolve(endless(runId, signal)),
  };
  async function* endless(runId: string, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    open.add(runId);
    turns.add(runId);
    most = Math.max(most, open.size);
    await new Promise((resolve) => {
      signal.addEventListener("abort", resolve);
    });
    open.delete(runId);
    yield* [];
  }
  const streams = ["a", "b", "c"].map((runId) => {
    const stream = new AnswerStream({ service, question: { question: "?" }, runId });
    void stream.run();
    return stream;
  });
  await vi.advanceTimersByTimeAsync(3_000); // they have not been looked at for two seconds
  most = 0;
  turns.clear();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(most).toBe(1);
  expect([...turns].sort()).toEqual(["a", "b", "c"]); // each within the minute after which it would be cancelled
  streams[1]?.watch();
  await vi.advanceTimersByTimeAsync(100);
  expect(open).toContain("b");
  expect(open.size).toBe(2);
  for (const stream of streams) stream.leave();
});
