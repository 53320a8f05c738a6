// @vitest-environment jsdom
import { expect, test } from "vitest";
import { textOf } from "./answer";
import type { AnswerService } from "./answerStream";
import type { StreamEvent } from "./follow";
import { LiveAnswers } from "./liveAnswers";

/** A service whose runs have said one word, and go on; it knows who reads them. */
function service() {
  const readers: string[] = [];
  async function* events(runId: string, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    readers.push(runId);
    yield { id: 1, data: JSON.stringify({ type: "content", content: "Well, " }) };
    await new Promise((resolve) => {
      signal.addEventListener("abort", resolve);
    });
    readers.splice(readers.indexOf(runId), 1);
  }
  const calls: AnswerService = {
    ask: () => Promise.reject(new Error("not asked")),
    cancel: () => Promise.resolve(),
    resume: (runId, _, signal) => Promise.resolve(events(runId, signal)),
  };
  return { readers, answers: new LiveAnswers(calls) };
}

const settled = () => new Promise((resolve) => setTimeout(resolve));
const RUN = { runId: "r1", question: "Where?", askedAt: 0 };

test("a run that is followed here already is not read twice, and goes on when the second reader leaves", async () => {
  const { readers, answers } = service();
  const followed = answers.attach("c1", RUN);
  await settled();
  const reading = answers.read("r1");
  expect(reading.stream).toBe(followed);
  reading.leave();
  await settled();
  expect(readers).toEqual(["r1"]);
  answers.clear();
});

test("another run is read from its beginning as long as it is needed, and is no answer of a conversation", async () => {
  const { readers, answers } = service();
  answers.attach("c1", RUN);
  const { stream, leave } = answers.read("r2");
  await settled();
  expect(readers).toEqual(["r1", "r2"]);
  await new Promise(requestAnimationFrame);
  expect(textOf(stream.getSnapshot().answer)).toBe("Well, ");
  expect(answers.getSnapshot()).toHaveLength(1);
  leave();
  await settled();
  expect(readers).toEqual(["r1"]);
  answers.clear();
});
