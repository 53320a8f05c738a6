/**
 * The answers that come now, by their conversation.
 *
 * They are kept apart from the page that shows them: a run that nobody reads is cancelled by the service after a while,
 * so that an answer is followed to its end also while another page is looked at.
 */
import { AnswerStream, type AnswerService, type AskedQuestion } from "./answerStream";

export interface LiveEntry {
  /** Null until a new conversation has its id. */
  readonly contextId: string | null;
  readonly stream: AnswerStream;
}

export interface Reading {
  readonly stream: AnswerStream;
  /** It is not needed here any more. */
  readonly leave: () => void;
}

export class LiveAnswers {
  readonly #service: AnswerService;
  readonly #listeners = new Set<() => void>();
  #entries: readonly LiveEntry[] = [];

  constructor(service: AnswerService) {
    this.#service = service;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getSnapshot = (): readonly LiveEntry[] => this.#entries;

  /** The answer of a conversation; with null that of a conversation without an id yet. */
  of(contextId: string | null): AnswerStream | null {
    return this.#entries.find((entry) => entry.contextId === contextId)?.stream ?? null;
  }

  /** Ask a question, in place of the answer before it. */
  ask(question: AskedQuestion): AnswerStream {
    return this.#begin(question.context_id ?? null, new AnswerStream({ service: this.#service, question }));
  }

  /** Follow a run that has begun elsewhere. */
  attach(contextId: string, run: { runId: string; question: string; askedAt: number }): AnswerStream {
    const own = this.of(contextId);
    if (own?.getSnapshot().runId === run.runId) return own;
    const question = { question: run.question, context_id: contextId };
    return this.#begin(contextId, new AnswerStream({ ...run, service: this.#service, question }));
  }

  /** The answer of a run that has begun, from its beginning: of the reader that is here already, or of one more. */
  read(runId: string): Reading {
    const known = this.#entries.find(({ stream }) => stream.getSnapshot().runId === runId);
    if (known) return { stream: known.stream, leave: () => undefined };
    const stream = new AnswerStream({ service: this.#service, question: { question: "" }, runId });
    void stream.run();
    return {
      stream,
      leave: () => {
        stream.leave();
      },
    };
  }

  /** A new conversation has got its id. */
  name(stream: AnswerStream, contextId: string): void {
    this.#set(this.#entries.map((entry) => (entry.stream === stream ? { contextId, stream } : entry)));
  }

  /** Forget an answer; if it has not ended, it goes on without this reader. */
  drop(stream: AnswerStream): void {
    stream.leave();
    this.#set(this.#entries.filter((entry) => entry.stream !== stream));
  }

  /** Forget all answers, of a user who has left. */
  clear(): void {
    for (const { stream } of this.#entries) stream.leave();
    this.#set([]);
  }

  #begin(contextId: string | null, stream: AnswerStream): AnswerStream {
    this.of(contextId)?.leave();
    this.#set([...this.#entries.filter((entry) => entry.contextId !== contextId), { contextId, stream }]);
    void stream.run();
    return stream;
  }

  #set(entries: readonly LiveEntry[]): void {
    this.#entries = entries;
    for (const listener of this.#listeners) listener();
  }
}
