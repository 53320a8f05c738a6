/** Where the keys and buttons of the run lead: positions of ticks. */
import { Mark } from "./marks";
import type { RunModel } from "./model";

const SHORTEST_MS = 120; // of a tick that is played
const LONGEST_MS = 1500;

const LATEST_S = 1.5; // by which the tick that is shown may be older than the last one

/** The tick that a run opens with: the one that decided its end; of a run under way the newest one. */
export function firstShown(model: RunModel, tick: number | null): number {
  const last = model.ticks.length - 1;
  if (tick !== null) {
    const found = model.indexOfTick(tick);
    return found >= 0 ? found : last;
  }
  if (!model.isComplete) return newestShown(model);
  const deciding = model.end?.tick == null ? -1 : model.indexOfTick(model.end.tick);
  return deciding >= 0 ? deciding : last;
}

/**
 * The tick that is shown while a run is followed: the last one, or one a little older of which it is known why.
 *
 * Ticks may come faster than what explains them can be read one by one: all that is shown belongs to one tick.
 */
function newestShown(model: RunModel): number {
  const last = model.ticks.length - 1;
  const explained = model.lastExplained;
  const age = (model.ticks[last]?.at_s ?? 0) - (model.ticks[explained]?.at_s ?? -Infinity);
  return age <= LATEST_S && model.visits(explained) !== undefined ? explained : last;
}

/** The first tick of the next turn (1), of this one, or of the one before if this is its first tick (-1). */
export function turnFrom(model: RunModel, at: number, step: 1 | -1): number {
  const turnOf = (position: number): number | undefined => model.ticks[position]?.turn;
  const turn = turnOf(at);
  let to = at;
  if (step === 1) {
    while (turnOf(to) === turn && to < model.ticks.length) to += 1;
    return to < model.ticks.length ? to : model.ticks.length - 1;
  }
  to -= 1;
  while (to > 0 && turnOf(to - 1) === turnOf(to)) to -= 1;
  return Math.max(0, to);
}

/** The next tick with a node error, from the beginning again after the last one; `null` without any. */
export function nextError(model: RunModel, at: number): { at: number; node: number | null } | null {
  return model.errors.find((error) => error.at > at) ?? model.errors[0] ?? null;
}

/** The next tick in which a node was asked, from the beginning again after the last one; `null` if none was. */
export function nextAsked(model: RunModel, node: number, at: number): number | null {
  const count = model.ticks.length;
  for (let step = 1; step <= count; step++) {
    const position = (at + step) % count;
    const mark = model.mark(node, position);
    if (mark !== Mark.notAsked && mark !== Mark.carried) return position;
  }
  return null;
}

/** How long a tick is shown while the run is played: as long as it took, within bounds. */
export function playedMs(model: RunModel, at: number): number {
  const [now, next] = [model.ticks[at]?.at_s, model.ticks[at + 1]?.at_s];
  if (now === undefined || next === undefined) return SHORTEST_MS;
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (next - now) * 1000));
}

/** A headline as its first sentence and the rest. */
export function headlineParts(headline: string): readonly [first: string, rest: string] {
  const end = /[.!?](?=\s+[\p{L}“"])/u.exec(headline); // the name of a node may begin a sentence
  if (end === null) return [headline, ""];
  return [headline.slice(0, end.index + 1), headline.slice(end.index + 1).trim()];
}
