/** What the user had read by a tick: texts, tool calls, notifications and what an operator did, in order. */
import type { CallFacts, DebugFacts, NoticeFacts, TextFacts } from "./facts";
import type { RunModel } from "./model";

export type Item =
  | { readonly kind: "text"; readonly id: string; readonly text: TextFacts }
  | { readonly kind: "calls"; readonly id: string; readonly calls: readonly CallFacts[] }
  | { readonly kind: "notice"; readonly id: string; readonly notice: NoticeFacts }
  | { readonly kind: "debug"; readonly id: string; readonly debug: DebugFacts }
  | { readonly kind: "sources"; readonly id: string; readonly sources: readonly TextFacts[] };

interface Single {
  readonly tick: number;
  readonly at_s: number;
  readonly item: Item;
}

/** How a tool call stands at a tick. */
export type CallState = "running" | "done" | "error" | "not run";

/** The items up to the tick at a position; calls and sources that follow each other are one item. */
export function answerBy(model: RunModel, at: number): Item[] {
  const tick = model.ticks[at]?.tick ?? 0;
  const isLast = model.isComplete ? at === model.ticks.length - 1 : at >= model.ticks.length - 1;
  const isThere = (item: { tick: number }): boolean => item.tick <= tick || isLast;
  const found: Single[] = [
    ...model.texts.filter(isThere).map((text, n): Single => {
      const id = `text-${String(n)}`;
      const item: Item =
        text.type === "source" ? { kind: "sources", id, sources: [text] } : { kind: "text", id, text };
      return { tick: text.tick, at_s: text.at_s, item };
    }),
    ...model.calls
      .filter((call) => isThere({ tick: call.began_tick }))
      .map((call): Single => ({
        tick: call.began_tick,
        at_s: call.began_s,
        item: { kind: "calls", id: `call-${call.id}`, calls: [call] },
      })),
    ...model.notices.filter(isThere).map((notice, n): Single => ({
      tick: notice.tick,
      at_s: notice.at_s,
      item: { kind: "notice", id: `notice-${String(n)}`, notice },
    })),
    ...model.debug.filter(isThere).map((debug, n): Single => ({
      tick: debug.tick,
      at_s: debug.at_s,
      item: { kind: "debug", id: `debug-${String(n)}`, debug },
    })),
  ];
  found.sort((one, other) => one.tick - other.tick || one.at_s - other.at_s); // stable: texts before what they caused
  return found.map((each) => each.item).reduce<Item[]>(joined, []);
}

function joined(items: Item[], next: Item): Item[] {
  const last = items.at(-1);
  if (last?.kind === "calls" && next.kind === "calls")
    items[items.length - 1] = { ...last, calls: [...last.calls, ...next.calls] };
  else if (last?.kind === "sources" && next.kind === "sources")
    items[items.length - 1] = { ...last, sources: [...last.sources, ...next.sources] };
  else items.push(next);
  return items;
}

/** How a call stood after a tick. */
export function callState(call: CallFacts, tick: number): CallState {
  if (call.ran === false) return "not run";
  if (call.ended_tick === null || call.ended_tick > tick) return "running";
  return call.is_error ? "error" : "done";
}

/** The arguments of a call on one line: the values of an object, else the text. */
export function argumentsOf(call: CallFacts): string {
  const given: unknown = call.arguments;
  if (given === null || given === undefined) return "";
  if (typeof given === "string") return given;
  if (typeof given !== "object" || Array.isArray(given)) return JSON.stringify(given);
  return Object.values(given)
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join(" ");
}

/** What an operator did with the debugger, as a sentence. */
export function debugSentence(done: DebugFacts): string {
  const by = done.by ? ` by ${done.by}` : "";
  switch (done.what) {
    case "set":
      return `${done.key ?? "A value"} was set to ${JSON.stringify(done.value)}${by}.`;
    case "forced":
      return `The result of ${done.path ?? "a node"} was forced to ${done.result ?? "another one"}${by}.`;
    case "resumed":
      return `Resumed after ${(done.paused_s ?? 0).toFixed(1)} s${by}.`;
    case "paused":
      return done.why ? `Paused by a breakpoint${done.path ? ` at ${done.path}` : ""}.` : `Paused${by}.`;
    case "pausing":
      return `A pause was asked for${by}.`;
    case "stepped":
      return `Stepped one tick${by}.`;
  }
}
