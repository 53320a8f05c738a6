/**
 * A client of the Oracle BT service. It reads each chunk once, in order, and resumes by itself after a lost connection.
 *
 *     const oracle = new Oracle("https://oracle.example.org", token);
 *     const chat = oracle.conversation();
 *     const { run_id } = await chat.ask("How does the login work?");
 *     for await (const { chunk } of oracle.resume(run_id)) if (chunk.type === "content") write(chunk.content);
 *     await chat.ask("And the logout?"); // in the same conversation
 */
import type { components } from "./schema.js";

export type { components, paths } from "./schema.js";
type Schemas = components["schemas"];
export type Question = Schemas["QueryRequest"];
export type Run = Schemas["RunBody"];
export type Chunk = Schemas["Chunk"];
export type Delivery = Schemas["DeliveryBody"];
export type Pending = Schemas["PendingInterrupt"];

/** The service refused a call. */
export class OracleError extends Error {
  readonly status: number;
  /** A sentence; for 422, a list of mistakes. */
  readonly detail: unknown;
  /** How many seconds the service asks you to wait, with 429 and 503. */
  readonly retryAfter: number | undefined;

  constructor(status: number, detail: unknown, retryAfter?: number) {
    super(typeof detail === "string" ? detail : JSON.stringify(detail));
    this.status = status;
    this.detail = detail;
    this.retryAfter = retryAfter;
  }
}

const MOST_TRIES = 20;
const MOST_TRIES_OF_A_CALL = 5;
const LONGEST_WAIT_S = 60;
const BUSY = [429, 502, 503, 504];

/** Waits before another try, or throws the error again where another try is no use. */
async function again(error: unknown, tries: number, most: number, signal?: AbortSignal): Promise<void> {
  const refused = error instanceof OracleError ? error : undefined;
  const after = refused?.retryAfter ?? Math.min(0.1 * 2 ** tries, 5);
  const isFinal = refused !== undefined && !BUSY.includes(refused.status);
  if (isFinal || signal?.aborted || tries >= most || after > LONGEST_WAIT_S) throw error;
  await new Promise((resolve) => setTimeout(resolve, after * 1_000));
}

export class Oracle {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url = "", token?: string) {
    this.#url = url;
    this.#headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  }

  /** A conversation: its questions after the first one continue it. `contextId` names one that exists. */
  conversation(contextId?: string): Conversation {
    return new Conversation(this, contextId);
  }

  /** Begins a run, which needs no reader. If you repeat this call with the same `key`, there is one run. */
  async ask(question: Question, key: string = crypto.randomUUID()): Promise<Run> {
    const response = await this.#send("/api/oracle/runs", question, { "Idempotency-Key": key });
    return (await response.json()) as Run;
  }

  /** The chunks of a run after number `after`, until `done`. It resumes by itself after a lost connection. */
  async *resume(run: string, after = 0, signal?: AbortSignal): AsyncGenerator<{ n: number; chunk: Chunk }> {
    for (let tries = 0; ; tries += 1) {
      try {
        const headers = { "Last-Event-ID": String(after) };
        const response = await this.#call(
          "GET",
          `/api/oracle/runs/${run}/stream`,
          undefined,
          headers,
          signal,
        );
        if (response.status === 204 || response.body === null) return;
        for await (const [n, data] of events(response.body)) {
          [after, tries] = [n, -1];
          const chunk = JSON.parse(data) as Chunk;
          yield { n, chunk };
          if (chunk.type === "done") return;
        }
        throw new Error("The stream ended before `done`.");
      } catch (error) {
        await again(error, Math.max(tries, 0), MOST_TRIES, signal);
      }
    }
  }

  /** What the user's runs wait for, with the run and the interrupt of each. */
  async pending(): Promise<Pending[]> {
    const response = await this.#call("GET", "/api/oracle/pending");
    return ((await response.json()) as Schemas["PendingList"]).pending;
  }

  /** Stops a run. Its text so far is kept. */
  async cancel(run: string): Promise<void> {
    await this.#send(`/api/oracle/runs/${run}/cancel`);
  }

  /** Answers what a run has asked. Several deliveries are taken together, or none of them. */
  async answer(run: string, ...deliveries: Delivery[]): Promise<Schemas["DeliveryAnswer"]> {
    const response = await this.#send(`/api/oracle/runs/${run}/deliveries`, deliveries);
    return (await response.json()) as Schemas["DeliveryAnswer"];
  }

  /** A call that may be repeated: the service counts it once. */
  async #send(path: string, body?: unknown, more = {}): Promise<Response> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#call("POST", path, body, more);
      } catch (error) {
        await again(error, tries, MOST_TRIES_OF_A_CALL);
      }
    }
  }

  async #call(
    method: string,
    path: string,
    body?: unknown,
    more = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    const headers = {
      ...this.#headers,
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...more,
    };
    const init = {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    };
    const response = await fetch(this.#url + path, init);
    if (response.ok) return response;
    const said: unknown = await response.json().catch(() => null);
    const detail =
      typeof said === "object" && said !== null && "detail" in said ? said.detail : response.statusText;
    const after = response.headers.get("Retry-After");
    throw new OracleError(response.status, detail, after === null ? undefined : Number(after));
  }
}

export class Conversation {
  readonly #oracle: Oracle;
  /** The name of the conversation, once its first question was asked. */
  contextId: string | undefined;

  constructor(oracle: Oracle, contextId?: string) {
    this.#oracle = oracle;
    this.contextId = contextId;
  }

  /** Asks the next question of the conversation; `more` has further fields of the request, such as `tree`. */
  async ask(
    question: string,
    more: Omit<Question, "question" | "context_id"> = {},
    key?: string,
  ): Promise<Run> {
    const run = await this.#oracle.ask({ ...more, question, context_id: this.contextId ?? null }, key);
    this.contextId = run.context_id;
    return run;
  }
}

/** The number and the data of each event. */
async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<[number, string]> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (let rest = ""; ;) {
      const { done, value } = await reader.read();
      if (done) return;
      const frames = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) {
        const [, n, data] = /^id: (\d+)\ndata: (.*)$/.exec(frame) ?? [];
        if (n !== undefined && data !== undefined) yield [Number(n), data];
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
