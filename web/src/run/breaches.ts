/** Which calls have broken a rule of the tree, and the results that were read before them. */
import type { BreachFacts, CallFacts } from "./facts";
import type { RunModel } from "./model";
import { OMITTED } from "./words";

/** Something that was read: the name of its tool, or of what else it was. */
export interface ReadFacts {
  readonly name: string;
  /** The first call that brought it; `undefined` if it was read before the question. */
  readonly call: CallFacts | undefined;
}

/** The rule that a call has broken; `undefined` if there is none, or if that is not known. */
export function breachOf(model: RunModel, call: CallFacts): BreachFacts | undefined {
  return model.breaches.find((each) => each.call_id === call.id && each.turn === call.turn); // an id may be used again
}

export const isRefusal = (breach: BreachFacts | undefined): boolean =>
  breach?.enforcement === "refuse" || breach?.enforcement === "stop";

/** What was read before a tick, by its names; what was left out of an export is not among it. */
export function readBefore(model: RunModel, names: readonly string[], tick: number): ReadFacts[] {
  const isRead = (name: string) => (call: CallFacts) =>
    call.name === name && call.ran !== false && call.ended_tick !== null && call.ended_tick <= tick;
  return names
    .filter((name) => name !== "" && name !== OMITTED)
    .map((name) => ({ name, call: model.calls.find(isRead(name)) }));
}

/** The positions of the ticks in which a rule has refused a call. */
export function refusedAt(model: RunModel): number[] {
  const ticks = model.breaches.filter((each) => each.call_id && isRefusal(each)).map(({ tick }) => tick);
  return [...new Set(ticks)].map((tick) => model.indexOfTick(tick)).filter((at) => at >= 0);
}

/** What the rule has done, before its own sentence: `Refused by the rule`. */
export function deedOf({ enforcement }: BreachFacts): string {
  if (enforcement === "refuse") return "Refused by the rule";
  return enforcement === "stop" ? "The run was ended by the rule" : "It breaks the rule";
}
