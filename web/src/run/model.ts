/**
 * One run as data: recorded, or live and growing.
 *
 * A `RunModel` is mutable. Each change raises `version` and tells the subscribers once, so that a view can use
 * `useSyncExternalStore(model.subscribe, model.getVersion)` and read what it needs. Ticks are named by their position
 * (`at`, from 0) everywhere; `indexOfTick` makes one from a tick's number. Nodes are named by their index.
 *
 * What explains a tick (its visits) is large. It may be missing and come later, and that of ticks which nobody has
 * looked at for long is dropped again: `visits` is `undefined` then, and whoever shows the tick asks the loader for it.
 */
import type {
  BreachFacts,
  CallFacts,
  DebugFacts,
  DecisionFacts,
  EndEvent,
  EndFacts,
  HistoryPage,
  InterruptFacts,
  KeyFacts,
  NodeFacts,
  NoticeFacts,
  RunFacts,
  SeamFacts,
  StepFacts,
  TextFacts,
  TickFacts,
  TickEvent,
  TreeFacts,
  TurnFacts,
  VisitFacts,
} from "./facts";
import { Mark, MarkTable, markWord } from "./marks";
import { ValueHistory } from "./values";
import { OMITTED, titleOf } from "./words";

/** The last visit of each node in a tick, by node. */
export type Visits = ReadonlyMap<number, VisitFacts>;

/** A node error: the tick's position, and the node (`null` if it is not known). */
export interface NodeError {
  readonly at: number;
  readonly node: number | null;
}

type Belonging = Pick<
  HistoryPage,
  "turns" | "calls" | "notices" | "texts" | "breaches" | "debug" | "seams" | "interrupts" | "decisions"
>;

const MOST_VISITS = 30_000; // kept; about 30 MB of expressions, operands and texts
const FEWEST_TICKS = 8; // of which visits are kept whatever their number

export class RunModel {
  run: RunFacts;
  tree: TreeFacts | null;
  keys: readonly KeyFacts[];
  end: EndFacts | null = null;
  problem = "";
  unexplainedFrom: number | null = null;
  /** All ticks up to now are known, and the run has ended. */
  isComplete = false;

  readonly nodes: readonly NodeFacts[];
  readonly children: readonly (readonly number[])[];
  /** Without their visits: see `visits`. */
  readonly ticks: TickFacts[] = [];
  readonly turns: TurnFacts[] = [];
  readonly calls: CallFacts[] = [];
  notices: NoticeFacts[] = [];
  texts: TextFacts[] = [];
  breaches: BreachFacts[] = [];
  debug: DebugFacts[] = [];
  seams: SeamFacts[] = [];
  interrupts: InterruptFacts[] = [];
  decisions: DecisionFacts[] = [];
  readonly errors: NodeError[] = [];

  private changed = 0;
  private readonly listeners = new Set<() => void>();
  private readonly marks: MarkTable;
  private readonly values: ValueHistory;
  private readonly visitsOf = new Map<number, Visits>(); // by position; the least recently read first
  private keptVisits = 0;
  private explained = -1;
  private readonly callIndex = new Map<string, number>();

  /** @param head the first page of a history: the one with `tree` and `keys`. */
  constructor(head: HistoryPage) {
    this.run = head.run;
    this.tree = head.tree ?? null;
    this.keys = head.keys ?? [];
    this.nodes = this.tree?.nodes ?? [];
    const children: number[][] = this.nodes.map(() => []);
    for (const node of this.nodes) if (node.parent !== null) children[node.parent]?.push(node.index);
    this.children = children;
    this.marks = new MarkTable(this.nodes.length);
    this.values = new ValueHistory(this.keys);
    this.take(head);
  }

  // For views

  /** Raised with each change. */
  get version(): number {
    return this.changed;
  }

  readonly getVersion = (): number => this.changed;

  /** Call the listener after each change, until the returned function is called. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** The number of the last tick that is known; 0 before the first. */
  get lastTick(): number {
    return this.ticks.at(-1)?.tick ?? 0;
  }

  /** The position of a tick by its number; -1 if it is not known. */
  indexOfTick(tick: number): number {
    const first = this.ticks[0]?.tick ?? 1;
    return this.ticks[tick - first]?.tick === tick ? tick - first : -1;
  }

  /** The mark of a node at a tick. */
  mark(node: number, at: number): Mark {
    return this.marks.at(node, at);
  }

  /** The value of a blackboard key after a tick; at -1, before the first. */
  value(key: string, at: number): unknown {
    return this.values.at(key, at);
  }

  /** The names of all blackboard keys, declared ones first. */
  get keyNames(): string[] {
    return this.values.names;
  }

  /** What explains a tick, by node; `undefined` while it is not loaded. Empty if the tick cannot be explained. */
  visits(at: number): Visits | undefined {
    const found = this.visitsOf.get(at);
    if (found !== undefined) {
      this.visitsOf.delete(at); // now the most recently read
      this.visitsOf.set(at, found);
    }
    return found;
  }

  /** The last position whose visits have come; -1 before the first. They may have been dropped again. */
  get lastExplained(): number {
    return this.explained;
  }

  /** The node that decided what happens after a tick; of the tick that decided the end, the one that did. */
  decision(at: number): number | null {
    const tick = this.ticks[at];
    if (tick === undefined) return null;
    if (this.end !== null && this.end.tick === tick.tick && this.end.node !== null) return this.end.node;
    return tick.decision ?? null;
  }

  /** The nodes from the root to the one that decided; empty if that is not known. */
  path(at: number): number[] {
    const path: number[] = [];
    for (let node = this.decision(at); node !== null; node = this.nodes[node]?.parent ?? null)
      path.unshift(node);
    return path;
  }

  /** What has become of what a person was asked; `undefined` while it is open. */
  decisionOn(id: string): DecisionFacts | undefined {
    return this.decisions.findLast((made) => made.interrupt.id === id);
  }

  /** What waits for a person now. */
  get waiting(): InterruptFacts[] {
    if (this.run.status === "finished") return [];
    return this.interrupts.filter(
      ({ interrupt }) => interrupt.status === "pending" && !this.decisionOn(interrupt.id),
    );
  }

  /** What happened in a tick and what was decided, in one or two sentences; empty if that is not known. */
  headline(at: number): string {
    const tick = this.ticks[at];
    if (tick === undefined) return "";
    const end = this.end?.tick === tick.tick ? this.end : null;
    const said = (end ?? tick).headline ?? "";
    const decision = this.decision(at);
    if (said === OMITTED && decision !== null)
      return `${titleOf(this.nodes[decision])} decided: ${markWord(this.mark(decision, at))}.`;
    return end?.cause ? `${said} Cause: ${end.cause}` : said;
  }

  /** The steps to the decision of a tick; `undefined` while they are not loaded, empty if they are not known. */
  why(at: number): readonly StepFacts[] | undefined {
    const tick = this.ticks[at];
    const end = this.end?.tick === tick?.tick ? this.end?.why : undefined;
    return end?.length ? end : tick?.why;
  }

  // For loaders

  /** Add a page of the history: its ticks if they are known already, or come next; and what belongs to them. */
  take(page: HistoryPage): void {
    this.run = page.run;
    if (page.end !== null) this.end = page.end;
    this.problem = page.problem;
    this.unexplainedFrom = page.unexplained_from ?? this.unexplainedFrom;
    const last = this.lastTick;
    for (const tick of page.ticks) {
      const known = this.indexOfTick(tick.tick);
      if (known >= 0) this.ticks[known] = withoutVisits(tick);
      else if (tick.tick === this.lastTick + 1) this.append(tick);
      else continue;
      if (tick.visits !== undefined) this.keepVisits(known < 0 ? this.ticks.length - 1 : known, tick.visits);
    }
    if (this.lastTick > last || page.next === null) this.belong(page, last);
    else this.takeRequests(page);
    if (page.next === null && page.run.status === "finished") this.isComplete = true;
    this.tell();
  }

  /**
   * Add live ticks, in order, and the end.
   *
   * @param events of the stream of ticks.
   * @param visits of each tick event, whole; `undefined` if the stream has no reasons.
   */
  takeLive(
    events: readonly (TickEvent | EndEvent)[],
    visits: readonly (readonly VisitFacts[] | undefined)[],
  ): void {
    events.forEach((event, index) => {
      const last = this.lastTick;
      if (event.type === "end") {
        this.run = event.run;
        if (event.end !== null) this.end = event.end;
        this.problem = event.problem;
        this.isComplete = true;
      } else if (event.tick.tick === last + 1) {
        this.append(event.tick);
        const whole = visits[index];
        if (whole !== undefined) this.keepVisits(this.ticks.length - 1, whole);
      } else return;
      this.belong(event, last);
    });
    if (events.length > 0) this.tell();
  }

  private append(tick: TickFacts): void {
    const at = this.ticks.length;
    this.ticks.push(withoutVisits(tick));
    this.marks.append(tick.marks ?? "");
    this.values.append(at, tick.writes);
    for (const [path] of tick.errors)
      this.errors.push({ at, node: this.nodes.find((node) => node.path === path)?.index ?? null });
  }

  private keepVisits(at: number, visits: readonly VisitFacts[]): void {
    this.keptVisits -= this.visitsOf.get(at)?.size ?? 0;
    this.visitsOf.delete(at);
    const byNode = new Map(visits.map((visit) => [visit.node, visit]));
    this.visitsOf.set(at, byNode);
    this.keptVisits += byNode.size;
    this.explained = Math.max(this.explained, at);
    for (const [oldest, dropped] of this.visitsOf) {
      if (this.keptVisits <= MOST_VISITS || this.visitsOf.size <= FEWEST_TICKS) break;
      this.visitsOf.delete(oldest);
      this.keptVisits -= dropped.size;
    }
  }

  /** What belongs to no tick yet comes again with its tick: all later than the last tick before is replaced. */
  private belong(given: Belonging, last: number): void {
    this.takeRequests(given);
    const join = <Item extends { tick: number }>(known: Item[], more: readonly Item[]): Item[] => {
      const fresh = more.filter((item) => item.tick > last);
      const loose = known.findIndex((item) => item.tick > last);
      if (loose < 0) {
        known.push(...fresh);
        return known;
      }
      return [...known.slice(0, loose), ...fresh];
    };
    this.notices = join(this.notices, given.notices);
    this.texts = join(this.texts, given.texts);
    this.breaches = join(this.breaches, given.breaches);
    this.debug = join(this.debug, given.debug);
    this.seams = join(this.seams, given.seams);
    this.interrupts = join(this.interrupts, given.interrupts);
    this.decisions = join(this.decisions, given.decisions);
  }

  private takeRequests(given: Belonging): void {
    for (const turn of given.turns) {
      const at = this.turns.findIndex((each) => each.n >= turn.n);
      const known = this.turns[at];
      if (known === undefined) this.turns.push(turn);
      else if (known.n !== turn.n) this.turns.splice(at, 0, turn);
      else
        this.turns[at] =
          turn.request == null && known.request != null ? { ...turn, request: known.request } : turn;
    }
    for (const call of given.calls) {
      const key = `${call.turn} ${call.id}`; // a provider may use an id again in another turn
      const at = this.callIndex.get(key);
      if (at !== undefined) this.calls[at] = call;
      else this.callIndex.set(key, this.calls.push(call) - 1);
    }
  }

  private tell(): void {
    this.changed += 1;
    for (const listener of this.listeners) listener();
  }
}

function withoutVisits(tick: TickFacts): TickFacts {
  const record = { ...tick };
  delete record.visits;
  return record;
}
