/**
 * The rows that are shown of a source at a tick: what is folded and why, and what stands on each line.
 *
 * "Follow tick" folds what the tick did not ask. It hides `children:` and `name:` (the name becomes a tag), blank lines
 * and all but the first line of a comment. Without it all lines of the files are shown as they are.
 */
import type { RunModel, Visits } from "./model";
import { Mark } from "./marks";
import { clauseSpans, placeValues, type ClauseSpan, type NodeEvaluation, type RowValues } from "./operands";
import { sourceOf, type Source, type SourceRow } from "./source";
import { counted, cut } from "./words";

/** Trees with more nodes begin with their subtrees folded, except for those on the way to the decision. */
export const LARGE_TREE = 120;
export const ROW_PX = 20;
const LONGEST_TEXT = 400; // of a line that is shown

/** A row as it is shown at a tick. */
export interface ShownRow {
  readonly row: SourceRow;
  /** Of the outermost node of the line; `null` of a line without one. */
  readonly node: number | null;
  readonly mark: Mark;
  /** It stands for the lines up to `row.last`. */
  readonly isFolded: boolean;
  /** There is something to fold. */
  readonly isFoldable: boolean;
  /** What is folded, and why: `5 lines · not asked`; empty if nothing is. */
  readonly note: string;
  /** The file that is included here and shown below. */
  readonly include: string;
  /** The name of the node, where the line itself does not show it. */
  readonly tag: string;
  /** The node decided what happens next. */
  readonly isDecision: boolean;
  readonly clauses: readonly ClauseSpan[];
  readonly values: RowValues | null;
  /** What the node says about its step, in a few words. */
  readonly said: string;
  /** The comment behind the code gives way to values. */
  readonly hidesNote: boolean;
  readonly height: number;
}

/** Which rows are shown, and how. */
export interface View {
  readonly at: number;
  readonly follow: boolean;
  /** Rows that were opened or folded by hand, by index. */
  readonly opened: ReadonlyMap<number, boolean>;
  /** How many characters of a row that begins at `x` fit. */
  readonly room: (x: number) => number;
  /** A node counts as asked, for folding, because another run has asked it. */
  readonly isAskedElsewhere?: (node: number) => boolean;
  /** All lines matter as those on the way to the decision do: their values stand below them. */
  readonly allMatter?: boolean;
}

/** What all rows of a tick share. */
export interface TickView {
  readonly source: Source;
  readonly shown: readonly ShownRow[];
  /** From the root to the node that decided. */
  readonly path: readonly number[];
}

/** The rows of a run at a tick; none if the tree that ran is not known. */
export function showRows(model: RunModel, view: View): TickView {
  const source = model.tree === null ? null : sourceOf(model.tree);
  if (source === null) return { source: EMPTY, shown: [], path: [] };
  const maker = new RowMaker(model, source, view);
  return { source, shown: maker.rows(), path: maker.path };
}

/** One row of a run at a tick, open: a line that another version does not have. */
export function showRow(model: RunModel, row: SourceRow, view: View): ShownRow {
  if (model.tree === null) throw new Error("a run without a tree has no rows");
  return new RowMaker(model, sourceOf(model.tree), view).show(row, null);
}

const EMPTY = sourceOf({ name: "", version: "", file: "", files: {}, nodes: [] });
const HIDDEN_SETTING = /^(children|name):/;

class RowMaker {
  readonly path: readonly number[];
  readonly visits: Visits | undefined;
  private readonly onPath: ReadonlySet<number>;
  private readonly evaluations = new Map<number, NodeEvaluation[]>(); // by row
  private readonly errorRows: readonly number[];
  private readonly decision: number | null;

  constructor(
    private readonly model: RunModel,
    private readonly source: Source,
    private readonly view: View,
  ) {
    const { at } = view;
    this.visits = model.visits(at);
    this.decision = model.decision(at);
    this.path = model.path(at);
    this.onPath = new Set(this.path);
    for (const visit of this.visits?.values() ?? [])
      for (const evaluation of visit.evaluations ?? []) {
        const row = source.rowOfSetting(visit.node, evaluation.line);
        const known = this.evaluations.get(row);
        const made = { ...evaluation, node: visit.node };
        if (known === undefined) this.evaluations.set(row, [made]);
        else known.push(made);
      }
    this.errorRows = (model.ticks[at]?.errors ?? []).flatMap(([path]) => {
      const node = source.nodes.find((each) => each.path === path);
      return node === undefined ? [] : source.rowOf(node.index);
    });
  }

  rows(): ShownRow[] {
    const { rows } = this.source;
    const shown: ShownRow[] = [];
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at];
      if (row === undefined) break;
      if (this.isHidden(row)) continue;
      const fold = this.fold(row);
      shown.push(this.show(row, fold));
      if (fold !== null) at = row.last;
    }
    return shown;
  }

  private isHidden(row: SourceRow): boolean {
    if (!this.view.follow || row.nodes.length > 0) return false;
    if (row.kind === "blank") return true;
    if (row.owner === null)
      return row.kind === "comment" || row.indent > 0 || row.file !== this.source.tree.file;
    if (row.kind === "comment") return this.source.rows[row.index - 1]?.kind === "comment";
    return HIDDEN_SETTING.test(row.text);
  }

  /** Why a row is folded: what stands in its place; `null` if it is open. */
  private fold(row: SourceRow): string | null {
    if (row.last === row.index) return null;
    const lines = counted(row.last - row.index + 1, "line");
    const node = row.nodes[0];
    const isOpened = this.view.opened.get(row.index);
    if (node === undefined)
      return row.summary !== "" && !(isOpened ?? !this.view.follow) ? row.summary : null;
    const include = row.nodes.find((each) => this.source.isInclude(each));
    const what = include === undefined ? lines : this.source.includedFile(include);
    const mark = this.model.mark(node, this.view.at);
    const why = mark === Mark.notAsked && this.view.at >= 0 ? `${what} · not asked` : what;
    if (isOpened !== undefined) return isOpened ? null : why;
    const hasChildren = (this.source.children[node]?.length ?? 0) > 0;
    if (this.onPath.has(node) && hasChildren && this.view.follow) return null;
    if (include !== undefined && this.source.nodes.length > LARGE_TREE && !this.onPath.has(node)) return why;
    if (!this.view.follow || this.view.at < 0) return null;
    if (mark === Mark.notAsked) return this.view.isAskedElsewhere?.(node) === true ? null : why;
    if (!hasChildren) return this.hasEvaluations(row) ? null : what;
    return include !== undefined && mark === Mark.failure && !this.hasError(row) ? what : null;
  }

  private hasEvaluations(row: SourceRow): boolean {
    for (let at = row.index + 1; at <= row.last; at++) if (this.evaluations.has(at)) return true;
    return false;
  }

  private hasError(row: SourceRow): boolean {
    return this.errorRows.some((at) => at >= row.index && at <= row.last);
  }

  show(row: SourceRow, fold: string | null): ShownRow {
    const node = row.nodes[0] ?? null;
    const mark = node === null ? Mark.notAsked : this.model.mark(node, this.view.at);
    const evaluations = this.evaluations.get(row.index) ?? [];
    const values = this.values(row, evaluations, fold !== null);
    const said = values === null ? this.said(row) : "";
    const include =
      fold === null && node !== null && this.source.isInclude(node) ? this.source.includedFile(node) : "";
    const name = node === null ? null : (this.source.nodes[node]?.name ?? null);
    const isBelow = values !== null && values.place !== "behind";
    return {
      row,
      node,
      mark,
      isFolded: fold !== null,
      isFoldable: row.last > row.index && (node !== null || row.summary !== ""),
      note: fold ?? "",
      include,
      tag: name !== null && (this.view.follow || fold !== null) && !row.text.includes(name) ? name : "",
      isDecision: row.nodes.some((each) => each === this.decision),
      clauses: fold === null || row.last === row.index ? clauseSpans(evaluations, row) : [],
      values,
      said,
      hidesNote: values !== null || said !== "" || (this.view.follow && include !== ""),
      height: ROW_PX * (1 + (isBelow ? 1 : 0) + (values !== null && values.error !== "" ? 1 : 0)),
    };
  }

  private values(row: SourceRow, own: readonly NodeEvaluation[], isFolded: boolean): RowValues | null {
    const node = row.nodes[0];
    const isIncluding = node !== undefined && this.source.isInclude(node);
    const shown = isFolded && isIncluding ? this.firstNo(row) : own;
    const first = shown[0];
    if (first === undefined) return null;
    if (this.source.nodes[first.node]?.kind === "set" && shown.every((each) => each.error === ""))
      return null;
    return placeValues(shown, isFolded && isIncluding ? null : row, {
      room: this.view.room(row.x),
      taken: Math.min(row.text.length, LONGEST_TEXT),
      matters: this.view.allMatter === true || this.onPath.has(first.node),
      unasked: (key) => this.valueDuring(key, first.node),
    });
  }

  /** Why a folded subtree says no: its first condition that did. */
  private firstNo(row: SourceRow): NodeEvaluation[] {
    for (let at = row.index + 1; at <= row.last; at++) {
      const no = this.evaluations.get(at)?.find((each) => each.tone === "no" || each.tone === "error");
      if (no !== undefined) return [no];
    }
    return [];
  }

  /** The value of a key while a node was ticked; `undefined` if there is no such key. */
  private valueDuring(key: string, node: number): unknown {
    let value = this.model.value(key, this.view.at - 1);
    for (const visit of this.visits?.values() ?? []) {
      if (visit.node === node) break;
      for (const [written, to] of visit.writes ?? []) if (written === key) value = to;
    }
    return value;
  }

  /** What the node of a line says of its step; of several, the last one that says something. */
  private said(row: SourceRow): string {
    const said = row.nodes.map((node) => this.visits?.get(node)?.text ?? "");
    return said[0] !== "" ? (said[0] ?? "") : (said.findLast((text) => text !== "") ?? "");
  }
}

/** A part of a line, for drawing. */
export interface Segment {
  readonly text: string;
  readonly kind: "dash" | "kind" | "key" | "code" | "comment";
  /** Of an expression that was evaluated, or could have been. */
  readonly tone?: ClauseSpan["tone"];
  /** The node that begins here, behind the line's outermost. */
  readonly node?: number;
}

/** The parts of a line: dash, kind of node or key, code with its clauses, comment. */
export function segmentsOf(shown: ShownRow, source: Source): Segment[] {
  const { row } = shown;
  const text = cut(row.text, LONGEST_TEXT);
  if (row.kind === "comment") return [{ text, kind: "comment" }];
  const head = /^(- +)?("[^"]*"|[\w.-]+)?(:(?= |$))?/.exec(text);
  const dash = head?.[1] ?? "";
  const word = head?.[2] ?? "";
  const segments: Segment[] = [];
  if (dash !== "") segments.push({ text: dash, kind: "dash" });
  if (word !== "") segments.push({ text: word, kind: shown.node === null ? "key" : "kind" });
  const colon = head?.[3] ?? "";
  if (colon !== "") segments.push({ text: colon, kind: "dash" });
  const begun = dash.length + word.length + colon.length;
  const noteAt = commentAt(text, begun);
  const end = noteAt < 0 ? text.length : noteAt;
  const nodes = row.nodes.slice(1).flatMap((node) => {
    const column = (source.nodes[node]?.column ?? 0) - 1 - row.indent;
    return column > begun ? [{ column, node }] : [];
  });
  const cuts = new Set([begun, end]);
  for (const span of shown.clauses) cuts.add(span.start).add(span.end);
  for (const { column } of nodes) cuts.add(column);
  const places = [...cuts]
    .filter((place) => place >= begun && place <= end)
    .sort((one, other) => one - other);
  places.forEach((start, at) => {
    const stop = places[at + 1];
    if (stop === undefined) return;
    const span = shown.clauses.find((each) => each.start <= start && stop <= each.end);
    const node = nodes.find((each) => each.column === start)?.node;
    segments.push({
      text: text.slice(start, stop),
      kind: "code",
      ...(span === undefined ? {} : { tone: span.tone }),
      ...(node === undefined ? {} : { node }),
    });
  });
  if (noteAt >= 0 && !shown.hidesNote) segments.push({ text: text.slice(noteAt), kind: "comment" });
  return segments;
}

/** Where the comment behind the code begins, with the space before it; -1 without one. */
function commentAt(text: string, from: number): number {
  let quote = "";
  for (let at = from; at < text.length; at++) {
    const character = text[at] ?? "";
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === '"' || (character === "'" && /\W/.test(text[at - 1] ?? " "))) quote = character;
    else if (character === "#" && text[at - 1] === " ") return at - 1;
  }
  return -1;
}

/** A piece of the tree's edges in a row: a line from the top, or an arm to the row's text. */
export interface Guide {
  /** In px, as `x` of rows. */
  readonly x: number;
  /** Where the arm ends; `null` of a line. */
  readonly until: number | null;
  /** The line ends in the middle of the row. */
  readonly isEnd: boolean;
  /** Of the edges on the way to the decision: of the node that they come from. */
  readonly mark: Mark | null;
}

/** The edges of the tree that pass through a row, those on the way to the decision last. */
export function guidesOf(row: SourceRow, view: TickView, markOf: (node: number) => Mark): Guide[] {
  const { source, path } = view;
  const edges: Guide[] = [];
  const drawn = new Set<number>();
  path.forEach((node, at) => {
    const parent = path[at - 1];
    if (parent === undefined) return;
    const from = source.rowOf(parent);
    const to = source.rowOf(node);
    if (from === to || row.index <= from || row.index > to) return;
    const x = source.rows[from]?.x ?? 0;
    const until = source.rows[to]?.x ?? 0;
    drawn.add(from);
    edges.push({ x, until: null, isEnd: row.index === to, mark: markOf(parent) });
    if (row.index === to && until > x) edges.push({ x, until, isEnd: true, mark: markOf(parent) });
  });
  const quiet: Guide[] = [];
  for (let node = row.owner; node !== null; node = source.nodes[node]?.parent ?? null) {
    const from = source.rowOf(node);
    if (from < 0 || from === row.index || drawn.has(from)) continue;
    drawn.add(from);
    quiet.push({ x: source.rows[from]?.x ?? 0, until: null, isEnd: false, mark: null });
  }
  return [...quiet.reverse(), ...edges];
}

/** The named nodes and subtrees on the way to the decision, and the decision: a breadcrumb. */
export function landmarks(view: Pick<TickView, "source" | "path">): number[] {
  const { source, path } = view;
  return path.filter((node, at) => at === path.length - 1 || source.isLandmark(node));
}

/**
 * The rows that stay in view above the first visible one: the last landmarks around it on the way to the decision.
 *
 * @param most of them.
 * @param firstVisible the index, among the shown rows, of the row below so many sticky lines.
 */
export function stickyRows<Shown extends ShownRow>(
  view: Pick<TickView, "source" | "path"> & { readonly shown: readonly Shown[] },
  most: number,
  firstVisible: (stickyCount: number) => number,
): Shown[] {
  const { shown, source, path } = view;
  const rows = path.filter((node) => source.isLandmark(node)).map((node) => source.rowOf(node));
  const byRow = new Map(
    shown.flatMap((each, index) => (each.node === null ? [] : [[each.row.index, index]])),
  );
  let above: Shown[] = [];
  for (let count = 0; count <= most; count++) {
    const first = shown[firstVisible(count)];
    if (first === undefined) return above;
    above = rows
      .flatMap((row) => shown[byRow.get(row) ?? -1] ?? [])
      .filter((each) => each.row.index < first.row.index && each.row.last >= first.row.index)
      .slice(-most);
    if (above.length <= count) return above;
  }
  return above;
}

/** The rows that a row is folded in, the outermost first. */
export function around(source: Source, row: number): number[] {
  const found: number[] = [];
  const wanted = source.rows[row];
  for (let node = wanted?.owner ?? null; node !== null; node = source.nodes[node]?.parent ?? null) {
    const at = source.rowOf(node);
    if (at >= 0 && found[0] !== at) found.unshift(at);
  }
  return found;
}
