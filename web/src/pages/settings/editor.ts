/**
 * Limits that are saved as they are changed.
 *
 * - A change is saved at the end of its gesture: when the slider is let go, with Enter, when the field is left, or after
 *   600 ms without another key. Until then it is a draft.
 * - A wrong value stays a draft with its problem; it is never sent.
 * - A change that the service could not take stays a draft, which says so, and is sent again when the service is back: the
 *   page says when it is reached again (`resend`). One that answers, but is busy, is asked again after 1 s, 2, 4, … up to a
 *   minute, or after what it asks for.
 * - Before a change is sent again the values are read: one that was changed elsewhere meanwhile is newer, and stays. What
 *   was typed since is sent by the end of its own gesture.
 * - Changes are sent one after the other, so that the last one wins here as it does in the service. One that is under way
 *   already is not sent again: Enter, leaving the field and the return of the service may all ask for the same.
 */
import { ApiError } from "@/api/client";
import { isPassing } from "@/run/service";
import type { AgentSettings } from "@/api/types";
import { number } from "@/parts/format";
import { NAMES, readEntry, WORDS, type Bounds, type LimitName, type LimitValues } from "./fields";

export const PAUSE_MS = 600;
const LONGEST_WAIT_S = 60;

type Changes = Partial<LimitValues>;

/** What the service takes. */
export interface LimitsService {
  read: () => Promise<AgentSettings>;
  change: (changes: Changes) => Promise<AgentSettings>;
  reset: () => Promise<AgentSettings>;
}

export type Note =
  | { state: "none" | "saving" }
  | { state: "saved"; text: string; atMs: number }
  | { state: "unsaved"; text: string };

export interface Draft {
  text: string;
  /** Why it cannot be saved; empty if it can, or is still being typed. */
  problem: string;
}

export interface EditorState {
  drafts: Readonly<Partial<Record<LimitName, Draft>>>;
  note: Note;
  /** The values before the last change; null where nothing can be taken back. */
  before: Changes | null;
}

/** A call that is under way, or waits for those before it. */
interface Call {
  /** The fields that it sets. */
  readonly names: readonly LimitName[];
  /** What it sets them to; empty where the service decides that. */
  readonly values: Changes;
}

/** A draft that the service could not take. */
interface Failure {
  readonly text: string;
  /** The value that it was to replace. */
  readonly saved: number | undefined;
}

export class LimitsEditor {
  private state: EditorState = { drafts: {}, note: { state: "none" }, before: null };
  private saved: AgentSettings | null = null;
  private readonly timers = new Map<LimitName, ReturnType<typeof setTimeout>>();
  private readonly listeners = new Set<() => void>();
  private queue: Promise<void> = Promise.resolve();
  private calls: readonly Call[] = [];
  private readonly failures = new Map<LimitName, Failure>();
  private failedInARow = 0;
  private again: ReturnType<typeof setTimeout> | undefined;
  private returns = 0; // how often the service was back
  private isReading = false;
  private isOpen = true;

  constructor(private readonly service: LimitsService) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  readonly getState = (): EditorState => this.state;

  /** The page is shown. */
  open(): void {
    this.isOpen = true;
  }

  /** The page is left: save what can be saved. */
  close(): void {
    this.commitAll();
    this.isOpen = false;
    clearTimeout(this.again);
  }

  /** The values that the service has now, perhaps changed in another tab. */
  setSaved(saved: AgentSettings): void {
    this.saved = saved;
  }

  /** Take what is in the field; it is saved after a pause, or by `commit`. */
  edit(name: LimitName, text: string, { later = true } = {}): void {
    const before = this.state.drafts[name];
    // A problem that was shown goes when it is solved, not with every key.
    const problem = before?.problem ? this.entry(name, text)?.problem : null;
    this.draft(name, { text, problem: problem ?? "" });
    clearTimeout(this.timers.get(name));
    if (later)
      this.timers.set(
        name,
        setTimeout(() => this.commit(name), PAUSE_MS),
      );
  }

  /** Save a field's draft now, if there is one and it is a value. */
  commit(name: LimitName): void {
    clearTimeout(this.timers.get(name));
    this.timers.delete(name);
    this.failures.delete(name);
    const draft = this.state.drafts[name];
    const entry = draft && this.entry(name, draft.text);
    if (!entry) return;
    if (entry.problem !== null) {
      this.draft(name, { text: draft.text, problem: entry.problem });
    } else {
      const call = this.lastCall(name);
      if (call === undefined && entry.value === this.saved?.[name]) this.drop(name);
      else if (call?.values[name] !== entry.value) this.send({ [name]: entry.value });
    }
  }

  /** Save what can be saved: the tab is left. */
  commitAll(): void {
    for (const name of NAMES) if (this.state.drafts[name]) this.commit(name);
  }

  /** The service is back: send again what it could not take. */
  resend(): void {
    this.returns += 1;
    this.failedInARow = 0;
    this.tryAgain();
  }

  /** Set one field to a value, such as its default. */
  choose(name: LimitName, value: number): void {
    this.draft(name, { text: String(value), problem: "" });
    this.commit(name);
  }

  /** Forget the drafts: the fields show what is saved. */
  discard(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
    this.failures.clear();
    this.set({ drafts: {}, note: { state: "none" } });
  }

  /** Take the last change back. */
  undo(): void {
    const { before } = this.state;
    if (!before) return;
    const drafts = Object.fromEntries(
      Object.entries(before).map(([name, value]) => [name, { text: String(value), problem: "" }]),
    );
    this.set({ drafts: { ...this.state.drafts, ...drafts } });
    this.send(before, { isUndo: true });
  }

  resetAll(): void {
    this.discard();
    const values = this.values();
    this.run(
      { names: NAMES, values: {} },
      () => this.service.reset(),
      () => ({ text: "All limits are at their defaults.", before: values }),
    );
  }

  private entry(name: LimitName, text: string) {
    const bounds: Bounds | undefined = this.saved?.fields[name];
    return bounds && readEntry(text, bounds);
  }

  private values(): Changes {
    const { saved } = this;
    return saved ? Object.fromEntries(NAMES.map((name) => [name, saved[name]])) : {};
  }

  /** The last call that sets a field, of those that are not through. */
  private lastCall(name: LimitName): Call | undefined {
    return this.calls.findLast((call) => call.names.includes(name));
  }

  private send(changes: Changes, { isUndo = false } = {}): void {
    const names = NAMES.filter((name) => changes[name] !== undefined);
    this.run(
      { names, values: changes },
      () => this.service.change(changes),
      (before) => ({
        text:
          names.length === 1
            ? names.map((name) => changeText(name, before[name], changes[name])).join("")
            : "",
        before: isUndo ? null : before,
      }),
    );
  }

  /** Make a call after those before it. The drafts that it saves go, unless they change meanwhile. */
  private run(
    call: Call,
    make: () => Promise<AgentSettings>,
    done: (before: Changes) => { text: string; before: Changes | null },
  ): void {
    const { drafts } = this.state;
    const { returns } = this;
    const isKept = (name: LimitName) =>
      call.values[name] !== undefined &&
      this.lastCall(name) === call &&
      this.state.drafts[name]?.text === drafts[name]?.text;
    this.calls = [...this.calls, call];
    this.set({ note: { state: "saving" } });
    this.queue = this.queue.then(async () => {
      const values = this.values();
      const before: Changes = Object.fromEntries(call.names.map((name) => [name, values[name]]));
      try {
        this.saved = await make();
        this.failedInARow = 0;
        const { text, before: undo } = done(before);
        this.set({
          drafts: without(this.state.drafts, call.names.filter(isKept)),
          note: { state: "saved", text, atMs: Date.now() },
          before: undo,
        });
        if (this.failures.size > 0) this.resend();
      } catch (error) {
        const why = error instanceof Error ? error.message : "";
        const kept = isPassing(error) ? call.names.filter(isKept) : [];
        this.set({
          note: {
            state: "unsaved",
            text: kept.length ? `${why} It is saved when the service is back.` : why,
          },
        });
        for (const name of kept)
          this.failures.set(name, { text: this.state.drafts[name]?.text ?? "", saved: this.saved?.[name] });
        if (isAnswer(error) || returns !== this.returns) this.waitAgain(error);
      } finally {
        this.calls = this.calls.filter((each) => each !== call);
      }
    });
  }

  /** Try again later, if there is something to send. */
  private waitAgain(error: unknown): void {
    clearTimeout(this.again);
    if (!this.isOpen || this.failures.size === 0) return;
    const askedS = error instanceof ApiError ? (error.retryAfterS ?? 0) : 0;
    const waitS = Math.min(LONGEST_WAIT_S, Math.max(askedS, 2 ** this.failedInARow));
    this.failedInARow += 1;
    this.again = setTimeout(() => this.tryAgain(), waitS * 1000);
  }

  /** Send again what the service could not take, after the calls before. */
  private tryAgain(): void {
    clearTimeout(this.again);
    if (this.isReading || this.failures.size === 0) return;
    this.isReading = true;
    const { returns } = this;
    // In the queue: a reading beside a change may be older than the answer to the change.
    this.queue = this.queue.then(async () => {
      try {
        this.saved = await this.service.read();
        this.isReading = false;
        if (this.isOpen) this.sendFailures();
      } catch (error) {
        this.isReading = false;
        if ((isPassing(error) && isAnswer(error)) || returns !== this.returns) this.waitAgain(error);
      }
    });
  }

  /** Send what failed; but what was typed since, or changed elsewhere. */
  private sendFailures(): void {
    for (const [name, { text, saved }] of [...this.failures]) {
      this.failures.delete(name);
      if (this.state.drafts[name]?.text !== text || this.timers.has(name)) continue;
      const now = this.saved?.[name];
      if (now === saved) {
        this.commit(name);
      } else {
        this.drop(name);
        const says = `${WORDS[name].label}: set to ${number(now ?? 0)} elsewhere in the meantime.`;
        this.set({ note: { state: "unsaved", text: says } });
      }
    }
  }

  /** Forget a draft of what is saved already. */
  private drop(name: LimitName): void {
    const drafts = without(this.state.drafts, [name]);
    const isDone = this.state.note.state === "unsaved" && Object.keys(drafts).length === 0;
    this.set({ drafts, ...(isDone && { note: { state: "none" } }) });
  }

  private draft(name: LimitName, draft: Draft): void {
    this.set({ drafts: { ...this.state.drafts, [name]: draft } });
  }

  private set(changes: Partial<EditorState>): void {
    this.state = { ...this.state, ...changes };
    for (const listener of this.listeners) listener();
  }
}

function without(drafts: EditorState["drafts"], names: readonly LimitName[]): EditorState["drafts"] {
  return Object.fromEntries(Object.entries(drafts).filter(([name]) => !names.includes(name as LimitName)));
}

/** The service was reached, so that nobody will say that it is back. */
const isAnswer = (error: unknown): boolean => error instanceof ApiError && !error.isOffline;

const changeText = (name: LimitName, from: number | undefined, to: number | undefined): string =>
  `${WORDS[name].label} ${number(from ?? 0)} → ${number(to ?? 0)}.`;
