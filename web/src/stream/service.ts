/** The calls of the service that an answer needs, over HTTP. */
import type { EventSourceMessage } from "eventsource-parser/stream";
import { api, ApiError, unwrap } from "@/api/client";
import { readEvents, type StreamRequest } from "@/api/sse";
import { addChunks, type Answer, NO_ANSWER } from "./answer";
import type { AnswerService } from "./answerStream";
import type { Chunk } from "./chunks";
import type { StreamEvent } from "./follow";

interface Opened {
  readonly response: Response;
  readonly events: AsyncIterable<StreamEvent>;
}

/** Open a stream of numbered events, and return when the head of the response has come. */
async function openEvents(path: string, request: StreamRequest): Promise<Opened> {
  return new Promise((resolve, reject) => {
    const events = readEvents(path, {
      ...request,
      onOpen: (response) => {
        resolve({ response, events: numbered(first, events) });
      },
    });
    const first = events.next(); // sends the request
    // Refused, or given up before it was opened. What fails later is thrown where the events are read.
    first.then(() => {
      reject(new DOMException("The stream was given up.", "AbortError"));
    }, reject);
  });
}

async function* numbered(
  first: Promise<IteratorResult<EventSourceMessage, void>>,
  rest: AsyncGenerator<EventSourceMessage, void, undefined>,
): AsyncGenerator<StreamEvent, void, undefined> {
  try {
    for (let result = await first; !result.done; result = await rest.next()) {
      yield { id: Number(result.value.id), data: result.value.data };
    }
  } finally {
    await rest.return();
  }
}

const STREAM = "/api/oracle/stream";

export const answerService: AnswerService = {
  async ask(question, { key, after, signal }) {
    const headers = { "Idempotency-Key": key };
    const { response, events } = await openEvents(STREAM, {
      body: question,
      headers,
      lastEventId: after || null,
      signal,
    });
    const runId = response.headers.get("X-Run-Id");
    if (!runId) throw new ApiError(0, null); // the line was lost within the head of the response
    return { runId, events };
  },
  resume: (runId, after, signal) =>
    resumeEvents(`/api/oracle/runs/${encodeURIComponent(runId)}/stream`, after, signal),
  async cancel(runId) {
    await unwrap(api.POST("/api/oracle/runs/{run_id}/cancel", { params: { path: { run_id: runId } } }));
  },
};

/** The events of a stream behind one of them; null if there are no more. */
export async function resumeEvents(
  path: string,
  after: number,
  signal: AbortSignal,
): Promise<AsyncIterable<StreamEvent> | null> {
  const { response, events } = await openEvents(path, { lastEventId: after || null, signal });
  return response.status === 204 ? null : events;
}

/** The whole answer of a run that has ended. */
export async function readAnswer(runId: string, signal: AbortSignal): Promise<Answer> {
  const events = await answerService.resume(runId, 0, signal);
  const chunks: { id: number; chunk: Chunk }[] = [];
  for await (const { id, data } of events ?? []) chunks.push({ id, chunk: JSON.parse(data) as Chunk });
  return addChunks(NO_ANSWER, chunks);
}
