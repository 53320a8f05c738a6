/** How far a run is, from its ticks: what the meters below an answer show. */
import type { components } from "@/api/schema";

type Schemas = components["schemas"];
export type TickEvent = Schemas["TickEvent"];
export type TickStreamEvent = TickEvent | Schemas["EndEvent"];

export interface Progress {
  /** The turn that is under way. */
  readonly turn: number;
  /** Finished turns. */
  readonly turns: number;
  readonly tokens: number;
  /** Seconds of the run's clock at the last tick. */
  readonly atS: number;
  /** When that tick came here, in milliseconds as `Date.now`. */
  readonly cameAt: number;
  readonly isPaused: boolean;
}

export const NO_PROGRESS: Progress = { turn: 0, turns: 0, tokens: 0, atS: 0, cameAt: 0, isPaused: false };

/** The progress after a further event of the stream of ticks. */
export function addTick(progress: Progress, event: TickStreamEvent, now: number): Progress {
  const isPaused = event.notices.reduce(
    (paused, notice) => pausedAfter(paused, notice.text),
    progress.isPaused,
  );
  if (event.type === "end") return { ...progress, isPaused: false };
  const written = new Map(event.tick.writes.map(([key, value]) => [key, value]));
  const number = (key: string, before: number) => {
    const value = written.get(key);
    return typeof value === "number" ? value : before;
  };
  return {
    turn: event.tick.turn,
    turns: number("turn", progress.turns),
    tokens: number("tokens_used", progress.tokens),
    atS: event.tick.at_s,
    cameAt: now,
    isPaused,
  };
}

function pausedAfter(before: boolean, message: string): boolean {
  if (message.startsWith("Paused")) return true;
  return message.startsWith("Resumed") ? false : before;
}

/** Seconds of the run's clock now. While it is paused the clock stands still. */
export function elapsedS(progress: Progress, now: number): number {
  if (progress.cameAt === 0) return 0;
  return progress.isPaused ? progress.atS : progress.atS + Math.max(0, now - progress.cameAt) / 1000;
}
