/** Where the rows of a tick stand: their heights, and how far they are moved to the left. */
import type { RunModel } from "@/run/model";
import { Mark } from "@/run/marks";
import { showRow, showRows, stickyRows, type ShownRow, type TickView } from "@/run/rows";
import type { SourceRow } from "@/run/source";
import { versionsOf } from "@/run/versions";

/** A row as it is placed: with a second run, its node there, and whether one of the trees lacks the line. */
export interface PlacedRow extends ShownRow {
  readonly key: string;
  readonly sign: "" | "-" | "+";
  /** Whose edges of the tree pass here: its own row, or that of the first run that it stands behind. */
  readonly beside: SourceRow;
  /** The node of the second run; `null` without one. */
  readonly otherNode: number | null;
  readonly otherMark: Mark | null;
}

export interface Arrangement extends TickView {
  readonly shown: readonly PlacedRow[];
  /** The top of each shown row, and behind the last one the height of all. */
  readonly tops: Float64Array;
  readonly height: number;
  /** `x` of the first sticky line, if there will be sticky lines: indents up to there are drawn narrower. */
  readonly base: number;
}

export interface ArrangeOptions {
  readonly at: number;
  readonly follow: boolean;
  readonly opened: ReadonlyMap<number, boolean>;
  /** From the gutter to the matrix. */
  readonly codeWidth: number;
  readonly charWidth: number;
  /** Of the visible part. */
  readonly viewHeight: number;
  readonly mostSticky: number;
  /** What each row is higher than its text, for targets in the gutter; 0 by default. */
  readonly sparePx?: number;
  /** A second run, at one of its ticks. */
  readonly other?: { readonly model: RunModel; readonly at: number } | undefined;
}

const EDGE_PX = 10;
/** Below the lowest line that needs no scrolling, in px. */
export const FOOT_PX = 60;
export const STICKY_PX = 20;
/** What is left of indents up to the base: all levels keep their order in it. */
const BASE_PX = 20;
const PAST_SHARE = 0.62; // of the view: what stands above the line that is shown

/** Where an indent ends: its part up to the base is narrower, that behind it as wide as it is. */
export function leftOf(x: number, base: number): number {
  const left = Math.min(base, BASE_PX);
  if (x <= 0) return 0;
  return x < base ? (x * left) / base : x - base + left;
}

export function arrange(model: RunModel, options: ArrangeOptions): Arrangement {
  let arranged = place(model, options, 0);
  // The base has an effect on heights, and these on the sticky lines; they settle after a round or two.
  for (let round = 0; round < 3; round++) {
    const top = topOfTick(arranged, options.viewHeight, options.mostSticky);
    const base = stickyAt(arranged, top, options.mostSticky)[0]?.row.x ?? 0;
    if (base === arranged.base) break;
    arranged = place(model, options, base);
  }
  return arranged;
}

/** The line that a tick is about: that of its first error, else of its decision; -1 without either. */
export function lineOfTick({ shown }: Arrangement): number {
  const error = shown.findIndex((each) => each.mark === Mark.error);
  return error >= 0 ? error : shown.findIndex((each) => each.isDecision);
}

/** How far the view is scrolled to show a tick: not at all if its line is in view, else so that its past is above it. */
export function topOfTick(arranged: Arrangement, viewHeight: number, mostSticky: number): number {
  const top = arranged.tops[lineOfTick(arranged)] ?? 0;
  if (top < viewHeight - FOOT_PX) return 0;
  return wholeLinesAt(arranged, top - viewHeight * PAST_SHARE, mostSticky);
}

/** About that far, so that the first line below the sticky ones is whole. */
export function wholeLinesAt(arranged: Arrangement, wanted: number, mostSticky: number): number {
  let count = 0;
  let top = 0;
  for (let round = 0; round <= mostSticky; round++) {
    const first = rowAtHeight(arranged.tops, Math.max(0, wanted) + count * STICKY_PX);
    top = Math.max(0, (arranged.tops[first] ?? 0) - count * STICKY_PX);
    const found = stickyAt(arranged, top, mostSticky).length;
    if (found === count) break;
    count = found;
  }
  return top;
}

/** The lines that stay in view above the others where it is scrolled that far. */
export function stickyAt(arranged: Arrangement, top: number, mostSticky: number): PlacedRow[] {
  return stickyRows(arranged, mostSticky, (count) => rowAtHeight(arranged.tops, top + count * STICKY_PX));
}

function place(model: RunModel, options: ArrangeOptions, base: number): Arrangement {
  const { codeWidth, charWidth, sparePx = 0 } = options;
  const room = (x: number): number => (codeWidth - leftOf(x, base) - EDGE_PX) / charWidth;
  const view = { at: options.at, follow: options.follow, opened: options.opened, room };
  const { other } = options;
  const versions =
    other === undefined || other.model.tree === null || model.tree === null
      ? null
      : versionsOf(model.tree, other.model.tree);
  const isAskedElsewhere = (node: number): boolean =>
    markElsewhere(versions?.newNode(node) ?? null, other) !== Mark.notAsked;
  const tick = showRows(model, versions === null ? view : { ...view, isAskedElsewhere });
  const shown = tick.shown.flatMap((each): PlacedRow[] => {
    const otherNode = each.node === null ? null : (versions?.newNode(each.node) ?? null);
    const isRemoved = versions?.isRemoved(each.row.index) === true;
    const own: PlacedRow = {
      ...each,
      height: each.height + sparePx,
      key: String(each.row.index),
      beside: each.row,
      sign: isRemoved ? "-" : "",
      otherNode: isRemoved ? null : otherNode,
      otherMark: otherNode === null || isRemoved ? null : markElsewhere(otherNode, other),
    };
    if (versions === null || other === undefined || each.isFolded) return [own];
    const added = versions.addedBehind(each.row.index).map((row): PlacedRow => {
      const fresh = showRow(other.model, row, { ...view, at: other.at, allMatter: true });
      const mark = fresh.node === null ? null : fresh.mark;
      return {
        ...fresh,
        height: fresh.height + sparePx,
        key: `+${row.index}`,
        beside: each.row,
        sign: "+",
        node: null,
        otherNode: fresh.node,
        otherMark: mark,
      };
    });
    return [own, ...added];
  });
  const tops = new Float64Array(shown.length + 1);
  shown.forEach((each, at) => {
    tops[at + 1] = (tops[at] ?? 0) + each.height;
  });
  return { ...tick, shown, tops, height: tops[shown.length] ?? 0, base };
}

function markElsewhere(node: number | null, other: ArrangeOptions["other"]): Mark {
  return node === null || other === undefined ? Mark.notAsked : other.model.mark(node, other.at);
}

/** The index of the row at a height; the last one beyond the end. */
export function rowAtHeight(tops: Float64Array, y: number): number {
  let low = 0;
  let high = Math.max(0, tops.length - 2);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((tops[middle] ?? 0) <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The position, among the shown rows, of a row or of the one that it is folded into; -1 if it is hidden. */
export function positionOf(shown: readonly PlacedRow[], row: number): number {
  return shown.findIndex(
    ({ sign, isFolded, row: { index, last } }) =>
      sign !== "+" && (index === row || (isFolded && index < row && row <= last)),
  );
}
