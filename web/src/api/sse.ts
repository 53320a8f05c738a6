/** Server-sent events by `fetch`: with a token in a header, a body, and a place to take the stream up from. */
import { EventSourceParserStream, type EventSourceMessage } from "eventsource-parser/stream";
import { useSession } from "@/store/session";
import { ApiError, heard, patientFetch, retryAfter } from "./client";

export interface StreamRequest {
  /** Sent as JSON by POST; without it the request is a GET. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  lastEventId?: string | number | null;
  signal?: AbortSignal;
  /** The head of the response has come. */
  onOpen?: (response: Response) => void;
}

/** The service sends a comment every 10 s; a connection that is silent for longer than this has died unnoticed. */
const LONGEST_SILENCE_MS = 25_000;

/**
 * The events of a stream, in order; ends with it. A 204 is an end without events.
 *
 * @throws ApiError if the service refuses the call, or the connection is lost (status 0). The caller's abort ends the stream silently.
 */
export async function* readEvents(
  path: string,
  request: StreamRequest = {},
): AsyncGenerator<EventSourceMessage, void, undefined> {
  const { token } = useSession.getState();
  const headers = new Headers({ Accept: "text/event-stream", ...request.headers });
  if (token !== null) headers.set("Authorization", `Bearer ${token}`);
  if (request.lastEventId != null) headers.set("Last-Event-ID", String(request.lastEventId));
  const init: RequestInit = { headers, cache: "no-store", signal: request.signal ?? null };
  if (request.body !== undefined) {
    headers.set("Content-Type", "application/json");
    init.method = "POST";
    init.body = JSON.stringify(request.body);
  }
  try {
    const response = await patientFetch(path, init);
    heard(response, token);
    if (!response.ok) {
      const body: unknown = await response.json().catch(() => null);
      const detail = typeof body === "object" && body !== null && "detail" in body ? body.detail : body;
      throw new ApiError(response.status, detail, retryAfter(response));
    }
    request.onOpen?.(response);
    if (response.status === 204 || response.body === null) return;
    const events = response.body
      .pipeThrough(breakSilence(LONGEST_SILENCE_MS))
      .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
      .pipeThrough(new EventSourceParserStream());
    const reader = events.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        yield value;
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  } catch (error) {
    if (request.signal?.aborted) return;
    if (error instanceof ApiError) throw error;
    throw new ApiError(0, null);
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Passes bytes on, and fails if none come for too long. */
function breakSilence(longestMs: number): TransformStream<Bytes, Bytes> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (controller: TransformStreamDefaultController<Bytes>) => {
    clearTimeout(timer);
    timer = setTimeout(() => controller.error(new ApiError(0, null)), longestMs);
  };
  return new TransformStream<Bytes, Bytes>({
    start: wait,
    transform(bytes, controller) {
      wait(controller);
      controller.enqueue(bytes);
    },
    flush() {
      clearTimeout(timer);
    },
  });
}
