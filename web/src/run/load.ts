/**
 * Loads a run into a `RunModel`, and keeps it current.
 *
 * A short run comes whole, with what explains each tick. Of a long one the ticks come without that, as a stream, which
 * costs the service and this page little; what explains a tick is read when the tick is looked at.
 */
import { sleep } from "@/store/clock";
import { FrameQueue } from "@/store/frames";
import { watchTicks, type Watched } from "./live";
import { RunModel } from "./model";
import { isPassing, type RunService } from "./service";

/**
 * `live`: ticks come as they happen; `reconnecting`: the connection is lost and is being made again; `failed`: for
 * good, and `error` says why.
 */
export type LoadState = "loading" | "live" | "reconnecting" | "complete" | "failed";

const FIRST_PAGE = { limit: 60, max_bytes: 1_000_000 };
const PAUSE_MS = 1_000; // before a run that has nothing to say is asked again
const AHEAD = { limit: 8, max_bytes: 400_000 }; // of ticks that will be looked at next

export class RunLoader {
  state: LoadState = "loading";
  error: unknown = null;

  private current: RunModel | null = null;
  private readonly stopping = new AbortController();
  private readonly listeners = new Set<() => void>();
  private readonly queue = new FrameQueue<Watched>((items) => {
    this.current?.takeLive(
      items.map((item) => item.event),
      items.map((item) => item.visits),
    );
  });
  private wanted: number | null = null;
  private isExplaining = false;

  constructor(private readonly service: RunService) {}

  /** The run; `null` until its first page has come. */
  get model(): RunModel | null {
    return this.current;
  }

  /** Call the listener when `model` or `state` has changed. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Load the run, and follow it to its end. */
  async start(): Promise<void> {
    const { signal } = this.stopping;
    try {
      const page = await this.service.history(FIRST_PAGE, signal);
      const model = (this.current = new RunModel(page));
      this.become(this.connected(model), { isNew: true });
      if (!model.isComplete) await this.follow(model, { reasons: page.next === null });
      this.become("complete");
    } catch (error) {
      if (signal.aborted) return;
      this.error = error;
      this.become("failed");
    }
  }

  /** Load what explains a tick that is looked at. Of several, the last one asked for comes next. */
  explain(at: number): void {
    this.wanted = at;
    if (!this.isExplaining) void this.explainWanted();
  }

  /** Stop loading and watching. */
  close(): void {
    this.stopping.abort();
    this.queue.clear();
    this.listeners.clear();
  }

  private async follow(model: RunModel, { reasons }: { reasons: boolean }): Promise<void> {
    const { signal } = this.stopping;
    const onConnection = (isConnected: boolean): void =>
      this.become(isConnected ? this.connected(model) : "reconnecting");
    for (;;) {
      const options = { after: model.lastTick, reasons, signal, onConnection };
      for await (const each of watchTicks(this.service, options)) this.queue.push(each);
      this.queue.flush();
      if (model.isComplete && reasons) return;
      // Without reasons the end names no node; and a stream that was empty has not said that the run has ended.
      model.take(await this.service.history({ after: Math.max(0, model.lastTick - 1), limit: 2 }, signal));
      if (model.isComplete) return;
      await sleep(PAUSE_MS, signal);
    }
  }

  private async explainWanted(): Promise<void> {
    const { signal } = this.stopping;
    this.isExplaining = true;
    try {
      for (let at = this.takeWanted(); at !== null; at = this.takeWanted()) {
        const tick = this.current?.ticks[at]?.tick;
        if (tick === undefined || this.current?.visits(at) !== undefined) continue;
        this.current?.take(await this.service.history({ after: tick - 1, limit: 1 }, signal));
        if (this.wanted === null && this.isAheadMissing(at))
          this.current?.take(await this.service.history({ after: tick, ...AHEAD }, signal));
      }
    } catch (error) {
      if (!signal.aborted && !isPassing(error)) this.error = error;
    } finally {
      this.isExplaining = false;
    }
  }

  /** What explains the next tick is missing; of a run under way, its newest ticks come one by one. */
  private isAheadMissing(at: number): boolean {
    const model = this.current;
    if (model === null || at + (model.isComplete ? 1 : AHEAD.limit) >= model.ticks.length) return false;
    return model.visits(at + 1) === undefined;
  }

  private takeWanted(): number | null {
    const at = this.wanted;
    this.wanted = null;
    return at;
  }

  private connected(model: RunModel): LoadState {
    return model.run.status === "finished" ? "loading" : "live";
  }

  private become(state: LoadState, { isNew = false } = {}): void {
    if (this.state === state && !isNew) return;
    this.state = state;
    for (const listener of this.listeners) listener();
  }
}
