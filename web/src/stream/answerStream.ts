/**
 * The answer to one question while it comes: asked once, followed to its end, and stopped if the user wants.
 *
 * Rules:
 *
 * - The question is sent with an `Idempotency-Key`. If the connection is lost before the service has answered, it is
 *   sent again with the same key, so that it is asked once. From then on the run is followed by its id.
 * - If the service refuses the question itself (busy, stopping, too many), that is final: nothing was begun.
 * - Chunks are applied once per animation frame.
 * - While nobody looks at it, it is followed by turns with others (`background`).
 * - A stop that comes before the run has an id is sent as soon as it has one.
 */
import { isShown, onShown } from "@/store/shown";
import { addChunks, type Answer, NO_ANSWER } from "./answer";
import { isPlaceWanted, takePlace, TURN_MS } from "./background";
import type { Chunk, NumberedChunk } from "./chunks";
import { type Connection, Follower, RefusedError, statusOf, type StreamEvent } from "./follow";
import { FrameQueue } from "@/store/frames";

/** A file that was uploaded. */
export interface AttachedFile {
  readonly id: string;
  readonly name: string;
}

export interface AskedQuestion {
  readonly question: string;
  readonly attachments?: readonly AttachedFile[];
  readonly context_id?: string;
  readonly project_id?: string;
  readonly tree?: string;
  readonly model?: string;
  readonly limits?: Readonly<Record<string, number>>;
}

/** The calls of the service that an answer needs. */
export interface AnswerService {
  ask(
    question: AskedQuestion,
    options: { key: string; after: number; signal: AbortSignal },
  ): Promise<{ runId: string; events: AsyncIterable<StreamEvent> }>;
  /** The chunks of a run behind one of them; null if there are no more. */
  resume(runId: string, after: number, signal: AbortSignal): Promise<AsyncIterable<StreamEvent> | null>;
  cancel(runId: string): Promise<void>;
}

export interface LiveAnswer {
  readonly question: string;
  /** The files that it was asked with, as far as this page knows. */
  readonly attachments: readonly AttachedFile[];
  /** Milliseconds, as `Date.now`. */
  readonly askedAt: number;
  readonly runId: string | null;
  readonly answer: Answer;
  readonly connection: Connection;
  readonly isStopping: boolean;
}

interface Begin {
  readonly service: AnswerService;
  readonly question: AskedQuestion;
  /** A run that answers it already. */
  readonly runId?: string;
  readonly askedAt?: number;
}

const UNWATCHED_MS = 2_000;

/** `crypto.randomUUID` is missing on pages that came over plain HTTP from another machine. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16).padStart(8, "0")).join(
    "-",
  );

export class AnswerStream {
  readonly question: AskedQuestion;
  readonly #service: AnswerService;
  readonly #key = newKey();
  readonly #listeners = new Set<() => void>();
  readonly #chunks = new FrameQueue<NumberedChunk>((chunks) =>
    this.#set({ answer: addChunks(this.#view.answer, chunks) }),
  );
  readonly #follower: Follower;
  #view: LiveAnswer;
  #watchers = 0;
  #isBackground = false;
  #wasSent = false;
  #cancelSent = false;

  constructor({ service, question, runId, askedAt }: Begin) {
    this.question = question;
    this.#service = service;
    this.#view = {
      question: question.question,
      attachments: question.attachments ?? [],
      askedAt: askedAt ?? Date.now(),
      runId: runId ?? null,
      answer: NO_ANSWER,
      connection: { at: "opening" },
      isStopping: false,
    };
    this.#follower = new Follower({
      open: (after, signal) => this.#open(after, signal),
      onEvent: (event) => this.#take(event),
      onConnection: (connection) => {
        this.#chunks.flush(); // what is said of the connection is true of what is shown
        this.#set({ connection });
      },
    });
  }

  /** Follow the answer to its end. */
  async run(): Promise<void> {
    const stop = onShown(this.#reconsider);
    this.#reconsiderLater();
    await this.#follower.run();
    stop();
  }

  /** It is looked at, until what is returned is called. */
  readonly watch = (): (() => void) => {
    this.#watchers += 1;
    this.#reconsider();
    return () => {
      this.#watchers -= 1;
      this.#reconsiderLater();
    };
  };

  readonly getSnapshot = (): LiveAnswer => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly tryNow = (): void => this.#follower.tryNow();

  /** Stop the run; what has been said is kept, and the end follows. */
  readonly cancel = (): void => {
    this.#set({ isStopping: true });
    this.#sendCancel();
  };

  /** Do not follow it any longer. The run goes on. */
  leave(): void {
    this.#follower.stop();
  }

  async #open(after: number, signal: AbortSignal): Promise<AsyncIterable<StreamEvent> | null> {
    const { runId } = this.#view;
    if (runId !== null) return this.#resume(runId, after, signal);
    const isFirst = !this.#wasSent;
    this.#wasSent = true;
    try {
      const opened = await this.#service.ask(this.question, { key: this.#key, after, signal });
      this.#set({ runId: opened.runId });
      if (this.#view.isStopping) this.#sendCancel();
      return opened.events;
    } catch (error) {
      if (isFirst && statusOf(error) !== null) throw new RefusedError("refused", { cause: error });
      throw error;
    }
  }

  async #resume(
    runId: string,
    after: number,
    signal: AbortSignal,
  ): Promise<AsyncIterable<StreamEvent> | null> {
    if (!this.#isBackground) return this.#service.resume(runId, after, signal);
    const release = await takePlace(signal);
    try {
      const events = await this.#service.resume(runId, after, signal);
      if (events) return this.#inTurn(events, release);
    } catch (error) {
      release();
      throw error;
    }
    release();
    return null;
  }

  async *#inTurn(events: AsyncIterable<StreamEvent>, release: () => void): AsyncGenerator<StreamEvent> {
    const timer = setInterval(() => {
      void isPlaceWanted().then((isWanted) => {
        if (isWanted) this.#follower.reopen();
      });
    }, TURN_MS);
    try {
      yield* events;
    } finally {
      clearInterval(timer);
      release();
    }
  }

  /** A page that is left for another one may come back at once. */
  #reconsiderLater(): void {
    setTimeout(this.#reconsider, UNWATCHED_MS);
  }

  readonly #reconsider = (): void => {
    const isBackground = this.#watchers === 0 || !isShown();
    if (isBackground === this.#isBackground) return;
    this.#isBackground = isBackground;
    if (this.#view.runId !== null) this.#follower.reopen();
  };

  #take({ id, data }: StreamEvent): boolean {
    const chunk = JSON.parse(data) as Chunk; // the service's own, described by its schema
    this.#chunks.push({ id, chunk });
    if (chunk.type !== "done") return false;
    this.#chunks.flush();
    return true;
  }

  #sendCancel(): void {
    const { runId } = this.#view;
    if (runId === null || this.#cancelSent) return;
    this.#cancelSent = true;
    this.#service.cancel(runId).catch(() => {
      this.#cancelSent = false;
      this.#set({ isStopping: false }); // the button is there again
    });
  }

  #set(change: Partial<LiveAnswer>): void {
    this.#view = { ...this.#view, ...change };
    for (const listener of this.#listeners) listener();
  }
}
