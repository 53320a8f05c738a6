/**
 * Asks Oracle, and reads its answers: each chunk once, in order, whatever becomes of the connection.
 *
 *     const oracle = new Oracle("https://oracle.example.org", token);
 *     const { run_id } = await oracle.ask({ question: "How does the login work?" });
 *     for await (const { chunk } of oracle.resume(run_id)) if (chunk.type === "content") write(chunk.content);
 */
import type { components } from "./schema.js";

export type { components, paths } from "./schema.js";
type Schemas = components["schemas"];
export type Question = Schemas["QueryRequest"];
export type Run = Schemas["RunBody"];
export type Chunk = Schemas["Chunk"];
export type Delivery = Schemas["DeliveryBody"];

/** The service has refused a call. */
export class OracleError extends Error {
  readonly status: number;
  /** A sentence, or a list of mistakes. */
  readonly detail: unknown;

  constructor(status: number, detail: unknown) {
    super(typeof detail === "string" ? detail : JSON.stringify(detail));
    this.status = status;
    this.detail = detail;
  }
}

const MOST_TRIES = 20;
const MOST_TRIES_OF_A_CALL = 5;

const pause = (tries: number) =>
  new Promise((resolve) => setTimeout(resolve, Math.min(100 * 2 ** tries, 5_000)));

export class Oracle {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url = "", token?: string) {
    this.#url = url;
    this.#headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  }

  /** Begins a run, which needs no reader. Give the same `key` to a call that you repeat: it is then one run. */
  async ask(question: Question, key: string = crypto.randomUUID()): Promise<Run> {
    const response = await this.#send("/api/oracle/runs", question, { "Idempotency-Key": key });
    return (await response.json()) as Run;
  }

  /** The chunks after number `after` of a run, until `done`; lost connections are made again. */
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
          [after, tries] = [n, 0];
          const chunk = JSON.parse(data) as Chunk;
          yield { n, chunk };
          if (chunk.type === "done") return;
        }
      } catch (error) {
        const isRefused = error instanceof OracleError && error.status < 500 && error.status !== 429;
        if (isRefused || signal?.aborted || tries >= MOST_TRIES) throw error;
      }
      await pause(tries);
    }
  }

  /** Stops a run; its text so far stays. */
  async cancel(run: string): Promise<void> {
    await this.#send(`/api/oracle/runs/${run}/cancel`);
  }

  /** Decides what a run has asked: all of it, or nothing where one decision is refused. */
  async answer(run: string, ...deliveries: Delivery[]): Promise<Schemas["DeliveryAnswer"]> {
    const response = await this.#send(`/api/oracle/runs/${run}/deliveries`, deliveries);
    return (await response.json()) as Schemas["DeliveryAnswer"];
  }

  /** A call that changes something, made again where its connection is lost: the service counts each of them once. */
  async #send(path: string, body?: unknown, more = {}): Promise<Response> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#call("POST", path, body, more);
      } catch (error) {
        if (error instanceof OracleError || tries >= MOST_TRIES_OF_A_CALL) throw error;
      }
      await pause(tries);
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
    throw new OracleError(response.status, detail);
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
