/**
 * Why a tick went as it did: the steps from the root to the node that decided, each a sentence and a place.
 *
 * A node that only passes on what another one says (a sequence without a name) has no step of its own: what was asked in
 * it belongs to the step of the last node before it that people have a name for. Branches that said no on the way share
 * one step; a node that raised has its own.
 */
import type { EvaluationFacts, NodeFacts, TurnFacts, VisitFacts } from "./facts";
import type { RunModel, Visits } from "./model";
import { titleOf } from "./words";

/** A piece of a sentence: plain words, the name of a node, or code of the tree. */
export interface Piece {
  readonly kind: "words" | "name" | "code";
  readonly text: string;
}

export interface Step {
  /** The node whose mark stands at the step, and that a click leads to: of several the first. */
  readonly node: number;
  readonly pieces: readonly Piece[];
  readonly decides: boolean;
}

const words = (text: string): Piece => ({ kind: "words", text });
const name = (text: string): Piece => ({ kind: "name", text });
const code = (text: string): Piece => ({ kind: "code", text });

const MOST_LISTED = 3;
const MOST_GUARDS = 2;
const MOST_REASONS = 2;
const LONGEST_REASON = 40; // characters
const LONGEST_CLAUSE = 60; // characters

/**
 * The steps of a tick.
 *
 * @returns `undefined` while its reasons are not loaded; empty if no node decided it, or its reasons are not known.
 */
export function whyOf(model: RunModel, at: number): Step[] | undefined {
  const visits = model.visits(at);
  if (visits === undefined) return undefined;
  return new Reasons(model, at, visits).steps();
}

/** A guard that holds: what it says, and how much of its limit is used. */
interface Guard {
  readonly text: string;
  readonly share: number;
}

/** What is said of a node on the way, gathered until the next node with a name. */
interface Owner {
  readonly visit: VisitFacts;
  guards: Guard[];
  held: Piece[][];
  firstHeld: number | null;
}

class Reasons {
  private readonly made: Step[] = [];
  private readonly askedBy = new Map<number | null, VisitFacts[]>();
  private readonly ended: ReadonlyMap<number, TurnFacts>;
  private readonly raised = new Set<number>(); // errors that have a step
  private readonly said = new Set<string>(); // clauses that an earlier step has named
  private readonly decision: number | null;

  constructor(
    private readonly model: RunModel,
    at: number,
    private readonly visits: Visits,
  ) {
    for (const visit of visits.values()) {
      const siblings = this.askedBy.get(visit.parent);
      if (siblings === undefined) this.askedBy.set(visit.parent, [visit]);
      else siblings.push(visit);
    }
    const tick = model.ticks[at]?.tick;
    const ended = model.turns.filter((turn) => turn.ended_tick === tick && turn.node !== null);
    this.ended = new Map(ended.map((turn) => [turn.node ?? -1, turn]));
    this.decision = model.decision(at);
  }

  steps(): Step[] {
    const path = this.path();
    let owner: Owner | null = null;
    path.forEach((visit, index) => {
      const child = path[index + 1];
      const isLast = child === undefined;
      if (owner === null || isLast || this.isNamed(visit.node)) {
        if (owner !== null) this.closeOwner(owner, isLast ? null : visit.node);
        owner = { visit, guards: [], held: [], firstHeld: null };
      }
      if (child !== undefined) this.readBefore(owner, visit, child);
      else this.decide(visit);
    });
    this.errorsElsewhere();
    return this.made;
  }

  private path(): VisitFacts[] {
    const path: VisitFacts[] = [];
    let node = this.decision;
    while (node !== null && path.length <= this.visits.size) {
      const visit = this.visits.get(node);
      if (visit === undefined) break;
      path.unshift(visit);
      node = visit.parent;
    }
    return path[0]?.parent === null ? path : [];
  }

  /** What was asked under a node before the child that the way goes on with. */
  private readBefore(owner: Owner, visit: VisitFacts, child: VisitFacts): void {
    const siblings = this.askedBy.get(visit.node) ?? [];
    const before = siblings.slice(0, Math.max(0, siblings.indexOf(child)));
    const later: (() => void)[] = [];
    const no: VisitFacts[] = [];
    for (const each of before) {
      const node = this.model.nodes[each.node];
      const turn = this.ended.get(each.node);
      const failed = this.faultBelow(each);
      if (node?.category === "guard") {
        const shares = (each.figures ?? []).map(({ value, limit }) => (limit ? value / limit : 0));
        const share = Math.max(0, ...shares);
        if (share > 0) owner.guards.push({ text: each.text ?? "", share });
      } else if (turn !== undefined) later.push(() => this.turnEnded(each, turn));
      else if (failed !== null) later.push(() => this.errorStep(failed, each));
      else if (each.status === "FAILURE") no.push(each);
      else if (each.status === "SUCCESS") {
        const condition = this.conditionOf(each);
        if (condition === null) continue;
        owner.held.push(...trueClauses(condition));
        owner.firstHeld ??= this.deepest(each).node;
      }
    }
    if (later.length === 0 && no.length === 0) return;
    this.closeOwner(owner, null);
    for (const make of later) make();
    if (no.length > 0) this.saidNo(no);
  }

  /** The step of a node on the way, if it has something to say; what it said is not said twice. */
  private closeOwner(owner: Owner, next: number | null): void {
    const { visit, guards, held } = owner;
    const title = name(titleOf(this.model.nodes[visit.node]));
    if (guards.length > 0) {
      const goesOn = visit.status === "RUNNING" ? " goes on: no guard trips. " : ": no guard trips. ";
      const nearest = [...guards].sort((one, other) => other.share - one.share).slice(0, MOST_GUARDS);
      const listed = guards.filter((guard) => nearest.includes(guard)).map(({ text }) => text);
      this.push(visit.node, [title, words(`${goesOn}${listed.join(", ")}.`)]);
    }
    if (held.length > 0) {
      const fresh = held.filter((clause) => !this.said.has(textOf(clause)));
      const listed = (fresh.length > 0 ? fresh : held).slice(0, MOST_LISTED + 1);
      for (const clause of held) this.said.add(textOf(clause));
      const ending = listed.length === 1 ? " is true" : " are true";
      const asked =
        next === null
          ? [words(".")]
          : [words(", so "), name(titleOf(this.model.nodes[next])), words(" is asked.")];
      this.push(owner.firstHeld ?? visit.node, [
        title,
        words(": "),
        ...joined(listed),
        words(ending),
        ...asked,
      ]);
    }
    owner.guards = [];
    owner.held = [];
    owner.firstHeld = null;
  }

  private decide(visit: VisitFacts): void {
    const node = this.model.nodes[visit.node];
    this.raised.add(visit.node);
    const said = visit.errors?.length ? errorSentence(visit) : lowered(this.sentenceOf(visit));
    this.push(visit.node, [name(titleOf(node)), words(" decided: "), words(said)], true);
  }

  private turnEnded(visit: VisitFacts, turn: TurnFacts): void {
    const took = turn.ended_s === null ? null : turn.ended_s - turn.began_s;
    const sure = turn.signal?.confidence;
    const sentence = lowered(this.sentenceOf(visit)).replace(/\.$/, "");
    this.push(visit.node, [
      name(titleOf(this.model.nodes[visit.node])),
      words(took === null ? ": " : ` ended after ${duration(took)}: `),
      words(sure == null ? `${sentence}.` : `${sentence}, ${String(sure)} sure.`),
    ]);
  }

  private saidNo(no: readonly VisitFacts[]): void {
    const listed = no.slice(0, MOST_LISTED);
    const more = no.length - listed.length;
    const titles = listed.map((visit) => [name(titleOf(this.model.nodes[visit.node]))]);
    if (more > 0) titles.push([words(`${String(more)} more`)]);
    const reasons =
      no.length > MOST_REASONS
        ? []
        : listed
            .map((visit) => this.operandsOf(visit).replace(/^no: /, ""))
            .filter((text) => text !== "" && text.length <= LONGEST_REASON);
    this.push(no[0]?.node ?? 0, [
      ...joined(titles),
      words(no.length === 1 ? " says no" : " say no"),
      ...(reasons.length > 0
        ? [words(": "), ...joined([...new Set(reasons)].map((text) => [code(text)]))]
        : []),
      words("."),
    ]);
  }

  private errorStep(visit: VisitFacts, branch: VisitFacts): void {
    this.raised.add(visit.node);
    const title = titleOf(this.model.nodes[this.nameAbove(visit.node)]);
    const expression = visit.evaluations?.find((each) => each.error !== "");
    this.push(visit.node, [
      name(title),
      words(": "),
      ...(expression ? [code(clipped(expression.text)), words(" failed. ")] : []),
      words(expression ? `${withoutDot(expression.error)}.` : errorSentence(visit)),
    ]);
    if (branch.node !== visit.node || branch.status === "FAILURE")
      this.push(branch.node, [
        words("An error counts as “no”: "),
        name(titleOf(this.model.nodes[branch.node])),
        words(" was left because of it, not by its conditions."),
      ]);
  }

  /** Errors of nodes that are neither on the way nor before it. */
  private errorsElsewhere(): void {
    for (const visit of this.visits.values()) {
      if (!visit.errors?.length || this.raised.has(visit.node)) continue;
      this.push(visit.node, [
        name(titleOf(this.model.nodes[visit.node])),
        words(`: ${errorSentence(visit)}`),
      ]);
    }
  }

  private push(node: number, pieces: readonly Piece[], decides = false): void {
    this.made.push({ node, pieces, decides });
  }

  private isNamed(index: number): boolean {
    const node = this.model.nodes[index];
    return node !== undefined && (Boolean(node.name) || node.kind === "subtree" || !isStructural(node));
  }

  private nameAbove(index: number): number {
    for (let node: number | null = index; node !== null; node = this.model.nodes[node]?.parent ?? null)
      if (this.model.nodes[node]?.name) return node;
    return index;
  }

  private faultBelow(visit: VisitFacts): VisitFacts | null {
    if (visit.errors?.length) return visit;
    for (const child of this.askedBy.get(visit.node) ?? []) {
      const found = this.faultBelow(child);
      if (found !== null) return found;
    }
    return null;
  }

  /** The visit that decided a visit: its own, or that of the child that decided it, and so on. */
  private deepest(visit: VisitFacts): VisitFacts {
    const seen = new Set([visit.node]);
    for (;;) {
      const next = visit.decider === null ? undefined : this.visits.get(visit.decider);
      if (next === undefined || seen.has(next.node)) return visit;
      visit = next;
      seen.add(visit.node);
    }
  }

  private conditionOf(visit: VisitFacts): EvaluationFacts | null {
    const last = this.deepest(visit);
    const isCondition = this.model.nodes[last.node]?.category === "condition";
    return isCondition ? (last.evaluations?.at(-1) ?? null) : null;
  }

  private operandsOf(visit: VisitFacts): string {
    return (this.deepest(visit).text ?? "").replace(/ → no$/, "");
  }

  private sentenceOf(visit: VisitFacts): string {
    if (visit.sentence) return visit.sentence;
    const said = { SUCCESS: "yes", FAILURE: "no", RUNNING: "it is at work", INVALID: "it was halted" }[
      visit.status
    ];
    return visit.text ? `${said}, ${visit.text}.` : `${said}.`;
  }
}

/** The clauses that made a condition true, as they stand in the file; the whole condition if they are not known. */
function trueClauses(evaluation: EvaluationFacts): Piece[][] {
  const within = (one: { start: number; end: number }, other: { start: number; end: number }): boolean =>
    one !== other &&
    other.start >= one.start &&
    other.end <= one.end &&
    other.end - other.start < one.end - one.start;
  const smallest = evaluation.clauses.filter(
    (clause) =>
      !evaluation.clauses.some((other) => within(clause, other)) && clause.asked && holds(clause.value),
  );
  const spans = smallest.map((clause) =>
    Array.from(evaluation.text).slice(clause.start, clause.end).join(""),
  );
  return (spans.length > 0 ? spans : [evaluation.text]).map((text) => [code(clipped(text))]);
}

/** A value that a condition takes for true. */
export function holds(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return !(value === false || value === null || value === undefined || value === 0 || value === "");
}

const textOf = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join("");

function joined(parts: readonly (readonly Piece[])[]): Piece[] {
  return parts.flatMap((part, index) => {
    const before = index === 0 ? [] : [words(index === parts.length - 1 ? " and " : ", ")];
    return [...before, ...part];
  });
}

const isStructural = (node: NodeFacts): boolean =>
  node.category === "composite" || node.category === "decorator";
const clipped = (text: string): string => {
  const line = text.replace(/\s+/g, " ");
  return line.length > LONGEST_CLAUSE ? `${line.slice(0, LONGEST_CLAUSE - 1)}…` : line;
};
const withoutDot = (text: string): string => text.replace(/\.$/, "");
const errorSentence = (visit: VisitFacts): string =>
  `it raised an error, which counts as no: ${withoutDot(visit.errors?.at(-1) ?? "")}.`;
const duration = (s: number): string =>
  s < 0.1 ? `${String(Math.round(s * 1000))} ms` : `${s.toFixed(2)} s`;

const BEGINNINGS = new Set([
  "A",
  "All",
  "An",
  "It",
  "More",
  "No",
  "Nobody",
  "One",
  "Open",
  "The",
  "There",
  "Turn",
]);

/** A sentence as it goes on after a colon; a name at its beginning stays as it is. */
export function lowered(sentence: string): string {
  const first = sentence.split(" ", 1)[0] ?? "";
  return BEGINNINGS.has(first) ? first.toLowerCase() + sentence.slice(first.length) : sentence;
}
