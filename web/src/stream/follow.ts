/**
 * Following a stream of numbered events over lost connections and restarts of the service.
 *
 * Rules:
 *
 * - Events are handed on in order, each once: an event that came already is dropped, and one that came too early (a
 *   number is missing) counts as a lost connection, after which the missing ones are asked for.
 * - A connection that fails, or ends before the last event, is opened again behind the last event seen: after 1 s, then
 *   2, 3, … up to 10 s, or after what `Retry-After` asks for; at once when `tryNow` is called or the browser is back
 *   online.
 * - A refusal (a status that waiting does not change) ends it.
 */

export interface StreamEvent {
  readonly id: number;
  readonly data: string;
}

/** Opens the stream behind an event. Returns null if nothing more will come. */
export type Open = (after: number, signal: AbortSignal) => Promise<AsyncIterable<StreamEvent> | null>;

export type Connection =
  | { readonly at: "opening" }
  | { readonly at: "open" }
  /** Nothing is received; the next attempt is at `until` (milliseconds, as `Date.now`), behind event `after`. */
  | { readonly at: "waiting"; readonly until: number; readonly after: number }
  | { readonly at: "ended" }
  | { readonly at: "refused"; readonly error: unknown };

/** Throw this from `Open` where an error must not be retried, whatever its status. */
export class RefusedError extends Error {
  override name = "RefusedError";
}

interface Options {
  /** The number of the last event that the client has. */
  readonly after?: number;
  readonly open: Open;
  /** Takes the next event; true if it is the last one. */
  readonly onEvent: (event: StreamEvent) => boolean;
  readonly onConnection: (connection: Connection) => void;
}

const LONGEST_WAIT_S = 10;
const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504]);

export class Follower {
  readonly #options: Options;
  readonly #stopped = new AbortController();
  #last: number;
  #failures = 0;
  #wake: (() => void) | null = null;
  #connection: AbortController | null = null;
  #isReopening = false;

  constructor(options: Options) {
    this.#options = options;
    this.#last = options.after ?? 0;
  }

  /** Follow until the last event, a refusal, or `stop`. */
  async run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      this.#say({ at: "opening" });
      let failure: unknown = null;
      try {
        if (await this.#read(signal)) {
          this.#say({ at: "ended" });
          return;
        }
      } catch (error) {
        failure = error;
      }
      if (isStopped(signal)) return;
      if (this.#takeReopening()) continue;
      if (isRefusal(failure)) {
        this.#say({ at: "refused", error: causeOf(failure) });
        return;
      }
      await this.#wait(retryAfterOf(failure));
    }
  }

  /** Do not wait for the next attempt. */
  tryNow(): void {
    this.#wake?.();
  }

  /** Give up the connection, and open another one at once. */
  reopen(): void {
    if (this.#connection === null) return;
    this.#isReopening = true;
    this.#connection.abort();
  }

  /** Give up the connection. Nothing is called any more. */
  stop(): void {
    this.#stopped.abort();
    this.#wake?.();
  }

  /** Read one connection to its end; true if nothing more will come. */
  async #read(signal: AbortSignal): Promise<boolean> {
    const connection = (this.#connection = new AbortController());
    const abort = () => connection.abort();
    signal.addEventListener("abort", abort, { once: true });
    try {
      const events = await this.#options.open(this.#last, connection.signal);
      if (!events) return true;
      this.#say({ at: "open" });
      for await (const event of events) {
        if (isStopped(signal)) return false;
        if (event.id <= this.#last) continue;
        if (event.id > this.#last + 1) return false;
        this.#last = event.id;
        this.#failures = 0;
        if (this.#options.onEvent(event)) return true;
      }
      return false;
    } finally {
      signal.removeEventListener("abort", abort);
      connection.abort();
      this.#connection = null;
    }
  }

  #takeReopening(): boolean {
    const was = this.#isReopening;
    this.#isReopening = false;
    return was;
  }

  async #wait(retryAfterS: number): Promise<void> {
    this.#failures += 1;
    const seconds = Math.max(Math.min(this.#failures, LONGEST_WAIT_S), retryAfterS);
    this.#say({ at: "waiting", until: Date.now() + seconds * 1000, after: this.#last });
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        globalThis.removeEventListener("online", wake);
        this.#wake = null;
        resolve();
      };
      const timer = setTimeout(wake, seconds * 1000);
      globalThis.addEventListener("online", wake);
      this.#wake = wake;
    });
  }

  #say(connection: Connection): void {
    if (!this.#stopped.signal.aborted) this.#options.onConnection(connection);
  }
}

/** A function, because the compiler takes `signal.aborted` for unchanged over an `await`. */
function isStopped(signal: AbortSignal): boolean {
  return signal.aborted;
}

function isRefusal(failure: unknown): boolean {
  if (failure instanceof RefusedError) return true;
  const status = statusOf(failure);
  return status !== null && !TRANSIENT.has(status);
}

function causeOf(failure: unknown): unknown {
  return failure instanceof RefusedError ? failure.cause : failure;
}

/** The status with which the service answered; null if there was no answer (an error with status 0 says so, too). */
export function statusOf(failure: unknown): number | null {
  const status = failure instanceof Error && "status" in failure ? failure.status : null;
  return typeof status === "number" && status > 0 ? status : null;
}

function retryAfterOf(failure: unknown): number {
  const seconds = failure instanceof Error && "retryAfterS" in failure ? failure.retryAfterS : null;
  return typeof seconds === "number" && statusOf(failure) !== null ? Math.min(seconds, 60) : 0;
}
