/**
 * What the user had read by a tick: texts, tool calls, notifications and what an operator did, in order; of a run under
 * way also what belongs to no tick yet.
 *
 * Texts of one kind that follow each other are one item, whichever ticks have recorded them. So the words of a turn stay
 * the same item when their tick comes.
 */
import type {
  CallFacts,
  DebugFacts,
  DecisionFacts,
  InterruptFacts,
  NoticeFacts,
  SeamFacts,
  TextFacts,
} from "./facts";
import type { RunModel } from "./model";
import { duration } from "@/parts/format";

export type Item =
  | { readonly kind: "text"; readonly id: string; readonly type: string; readonly text: string }
  | { readonly kind: "calls"; readonly id: string; readonly calls: readonly CallFacts[] }
  | { readonly kind: "notice"; readonly id: string; readonly notice: NoticeFacts }
  | { readonly kind: "debug"; readonly id: string; readonly debug: DebugFacts }
  | { readonly kind: "seam"; readonly id: string; readonly seam: SeamFacts }
  | {
      readonly kind: "interrupt";
      readonly id: string;
      readonly interrupt: InterruptFacts["interrupt"];
      /** What has become of it by now, also where an earlier tick is shown: what was answered is not asked again. */
      readonly decision: DecisionFacts | null;
      readonly tick: number;
    }
  | { readonly kind: "sources"; readonly id: string; readonly sources: readonly TextFacts[] };

interface Single {
  readonly tick: number;
  readonly at_s: number;
  readonly item: Item;
}

/** How a tool call stands at a tick. */
export type CallState = "running" | "done" | "error" | "not run";

/** A piece of the answer as it comes. Texts and calls matter here; all else comes with its tick. */
export interface Streamed {
  readonly kind: string;
  /** Of a text. */
  readonly text?: string;
  /** Of a call, as its name and arguments. */
  readonly callId?: string;
  readonly name?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

/** The items up to the tick at a position; texts, calls and sources that follow each other are one item. */
export function answerBy(model: RunModel, at: number): Item[] {
  const tick = model.ticks[at]?.tick ?? 0;
  const isLast = model.isComplete ? at === model.ticks.length - 1 : at >= model.ticks.length - 1;
  const isThere = (item: { tick: number }): boolean => item.tick <= tick || isLast;
  const found: Single[] = [
    ...model.texts.filter(isThere).map((text): Single => {
      const item: Item =
        text.type === "source"
          ? { kind: "sources", id: "", sources: [text] }
          : { kind: "text", id: "", type: text.type, text: text.text };
      return { tick: text.tick, at_s: text.at_s, item };
    }),
    ...model.calls
      .filter((call) => isThere({ tick: call.began_tick }))
      .map((call): Single => ({
        tick: call.began_tick,
        at_s: call.began_s,
        item: { kind: "calls", id: "", calls: [call] },
      })),
    ...model.notices.filter(isThere).map((notice): Single => ({
      tick: notice.tick,
      at_s: notice.at_s,
      item: { kind: "notice", id: "", notice },
    })),
    ...model.debug.filter(isThere).map((debug): Single => ({
      tick: debug.tick,
      at_s: debug.at_s,
      item: { kind: "debug", id: "", debug },
    })),
  ];
  for (const seam of model.seams.filter(isThere))
    found.push({ tick: seam.tick, at_s: seam.at_s, item: { kind: "seam", id: "", seam } });
  const asked = new Set(model.interrupts.map(({ interrupt }) => interrupt.id));
  const unasked = model.decisions.filter(({ interrupt }) => !asked.has(interrupt.id)); // nobody had to be asked
  for (const { tick: when, at_s, interrupt } of [...model.interrupts, ...unasked].filter(isThere)) {
    const decision = model.decisionOn(interrupt.id) ?? null;
    const shown = decision?.interrupt ?? interrupt;
    const item: Item = { kind: "interrupt", id: "", interrupt: shown, decision, tick: when };
    found.push({ tick: when, at_s, item });
  }
  found.sort((one, other) => one.tick - other.tick || one.at_s - other.at_s); // stable: texts before what they caused
  return named(found.map((each) => each.item).reduce<Item[]>(joined, []));
}

/**
 * The items with what has streamed beyond what is recorded. Calls come with the tick that has their result.
 *
 * What is recorded of a kind of text is the beginning of what has streamed of it, to the letter: its length says how much is
 * new. An id of a call may be used again in another turn, so that calls are counted.
 *
 * @param items all that is recorded.
 * @param streamed the answer from its beginning.
 */
export function withStreamed(
  items: readonly Item[],
  model: RunModel,
  streamed: readonly Streamed[],
): readonly Item[] {
  const recorded = new Map<string, number>();
  const add = (what: string, count: number): number => {
    const before = recorded.get(what) ?? 0;
    recorded.set(what, Math.max(0, before + count));
    return before;
  };
  for (const { type, text } of model.texts) add(type, text.length);
  for (const { id } of model.calls) add(`call ${id}`, 1);
  const more: Item[] = [];
  for (const piece of streamed) {
    if (piece.callId !== undefined) {
      if (add(`call ${piece.callId}`, -1) === 0) more.push(runningCall(piece, piece.callId));
    } else if (piece.kind === "text" || piece.kind === "thinking") {
      const type = piece.kind === "text" ? "content" : piece.kind;
      const text = piece.text ?? "";
      const known = add(type, -text.length);
      if (known >= text.length) continue;
      const rest: Item = { kind: "text", id: "", type, text: text.slice(known) };
      const last = more.length === 0 ? items.at(-1) : undefined;
      if (known > 0 && last?.kind === "text" && last.type === type) {
        items = items.slice(0, -1);
        more.push({ ...last, text: last.text + rest.text });
      } else more.push(rest);
    }
  }
  return more.length === 0 ? items : named(more.reduce(withCall, [...items]));
}

/** A call joins those before it; a text is an item of its own. */
function withCall(items: Item[], next: Item): Item[] {
  return next.kind === "calls" ? joined(items, next) : [...items, next];
}

function runningCall({ name = "", arguments: given }: Streamed, id: string): Item {
  const call = {
    id,
    name,
    arguments: given,
    turn: 0,
    began_tick: 0,
    ended_tick: null,
    began_s: 0,
    ended_s: null,
  };
  return { kind: "calls", id: "", calls: [call] };
}

/** Without blank texts, which are no paragraphs; and each item named by its place among those of its kind. */
function named(items: readonly Item[]): Item[] {
  const counts = new Map<string, number>();
  return items.flatMap((item): Item[] => {
    if (item.kind === "text" && !item.text.trim()) return [];
    const kind = item.kind === "text" ? item.type : item.kind;
    const n = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, n);
    const id = `${kind}-${String(n)}`;
    return [item.id === id ? item : { ...item, id }];
  });
}

function joined(items: Item[], next: Item): Item[] {
  const last = items.at(-1);
  if (last?.kind === "calls" && next.kind === "calls")
    items[items.length - 1] = { ...last, calls: [...last.calls, ...next.calls] };
  else if (last?.kind === "sources" && next.kind === "sources")
    items[items.length - 1] = { ...last, sources: [...last.sources, ...next.sources] };
  else if (last?.kind === "text" && next.kind === "text" && last.type === next.type && last.type !== "error")
    items[items.length - 1] = { ...last, text: last.text + next.text };
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

const HOW: Readonly<Record<string, string>> = {
  continued: "went on after what was said",
  repeated: "began anew",
  kept: "kept its result",
  unknown: "may have been carried out",
  not_run: "was not run",
};

/** Where and how another worker has gone on with the run, as sentences. */
export function seamSentence({ is_woken, pause_s, attempt, under_way = [] }: SeamFacts): string {
  const pause = duration(pause_s);
  if (is_woken) return `Woken after ${pause}.`;
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  const works = under_way.map(({ what, name, how }) => {
    const subject = what === "turn" ? "The turn under way" : what === "tool" ? name : lastPart(name);
    return ` ${subject} ${HOW[how] ?? how}.`;
  });
  return `Another worker continued after ${pause}${again}.${works.join("")}`;
}

const lastPart = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

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
      return `A pause was requested${by}.`;
    case "stepped":
      return `Stepped one tick${by}.`;
  }
}
