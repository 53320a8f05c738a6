/** The ticks of a run as they come: whole visits, and reconnection. */
import { sleep } from "@/store/clock";
import type { EndEvent, TickEvent, VisitFacts } from "./facts";
import { isPassing, type RunService } from "./service";

/** An event of the stream, with all visits of its tick; `undefined` where the stream has no reasons. */
export interface Watched {
  readonly event: TickEvent | EndEvent;
  readonly visits: readonly VisitFacts[] | undefined;
}

/**
 * Makes the ticks of one connection whole: a node of `visited` without a visit did the same as in its last one.
 *
 * Visits that are the same in many ticks are the same object, so that a long run takes little memory.
 */
export class VisitMerger {
  private readonly last = new Map<number, VisitFacts>();

  whole(event: TickEvent): VisitFacts[] {
    const sent = event.tick.visits ?? [];
    for (const visit of sent) this.last.set(visit.node, visit);
    if (event.omitted_visits === 0) return sent;
    return event.tick.visited.flatMap((node) => this.last.get(node) ?? []);
  }
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;

export interface WatchOptions {
  readonly after: number;
  readonly reasons: boolean;
  readonly signal: AbortSignal;
  /** Told whether events come, or the connection is lost and is being made again. */
  readonly onConnection: (isConnected: boolean) => void;
  /** Waits; tests give another one. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * The events after a tick, over lost connections, up to the event `end`.
 *
 * Ends without it if the service closes the stream before an event came: it has nothing more to say.
 *
 * @throws what the service refuses for good; and an `AbortError` after `signal`.
 */
export async function* watchTicks(service: RunService, options: WatchOptions): AsyncGenerator<Watched> {
  const { reasons, signal, onConnection, pause = sleep } = options;
  let after = options.after;
  let wait = FIRST_WAIT_MS;
  for (;;) {
    const merger = new VisitMerger();
    let isEmpty = true;
    let isLost = false;
    try {
      for await (const event of service.watch({ after, reasons, signal })) {
        isEmpty = false;
        wait = FIRST_WAIT_MS;
        onConnection(true);
        if (event.type === "end") {
          yield { event, visits: undefined };
          return;
        }
        if (event.tick.tick <= after) continue;
        after = event.tick.tick;
        yield { event, visits: reasons ? merger.whole(event) : undefined };
      }
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw error;
      isLost = true;
    }
    if (isEmpty && !isLost) return;
    onConnection(false);
    await pause(wait * (0.75 + Math.random() / 2), signal);
    wait = Math.min(wait * 2, LONGEST_WAIT_MS);
  }
}
