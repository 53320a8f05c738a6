/** The columns of a matrix: one for each tick, of the same width or as wide as the tick's time. */
import type { TickFacts } from "./facts";

export interface Columns {
  /** Left edges, in px from the first column. */
  readonly x: Float64Array;
  readonly w: Float64Array;
  /** Of all columns. */
  readonly total: number;
  /** Of the part that is shown, with its margins. */
  readonly width: number;
}

/** A range of columns in view: the px before it, and its columns from the first to that before `end`. */
export interface ColumnWindow {
  readonly from: number;
  readonly first: number;
  readonly end: number;
}

export const MARGIN_PX = 4;
const LEAST_TIME_PX = 5;
const KEPT_PX = 30; // between the play head and the edge of a window

export interface ColumnOptions {
  readonly axis: "equal" | "time";
  /** The most px that the matrix may take. */
  readonly room: number;
  /** Of an equal column. */
  readonly narrowest: number;
  readonly widest: number;
  /** Columns that must have room, if they are more than there are ticks: those of the matrix beside it. */
  readonly atLeast?: number;
}

export function makeColumns(ticks: readonly TickFacts[], options: ColumnOptions): Columns {
  const count = ticks.length;
  const inner = options.room - 2 * MARGIN_PX;
  const x = new Float64Array(count);
  const w = new Float64Array(count);
  const start = ticks[0]?.at_s ?? 0;
  const whole = (ticks[count - 1]?.at_s ?? 0) - start;
  const equal = Math.max(
    options.narrowest,
    Math.min(options.widest, inner / Math.max(1, count, options.atLeast ?? 0)),
  );
  const spans = ticks.map((tick, at) => (ticks[at + 1]?.at_s ?? tick.at_s) - tick.at_s);
  const scale = options.axis === "time" && whole > 0 ? timeScale(spans, inner) : null;
  let total = 0;
  spans.forEach((span, at) => {
    const width = scale === null ? equal : Math.max(LEAST_TIME_PX, span * scale);
    x[at] = total;
    w[at] = width;
    total += width;
  });
  return { x, w, total, width: Math.ceil(Math.min(options.room, total + 2 * MARGIN_PX)) };
}

/** The window that shows a tick: the one before, if it does; else one with the tick in its middle. */
export function windowAt(columns: Columns, at: number, before: number): ColumnWindow {
  const { x, w, total, width } = columns;
  const most = Math.max(0, total + 2 * MARGIN_PX - width);
  const left = x[at] ?? 0;
  const right = left + (w[at] ?? 0);
  const kept = Math.min(KEPT_PX, width / 3);
  const isInView = left >= before + kept && right <= before + width - kept;
  const from = Math.max(0, Math.min(most, isInView ? before : (left + right - width) / 2));
  const first = columnAt(columns, from - MARGIN_PX);
  return { from, first, end: Math.min(x.length, columnAt(columns, from + width - MARGIN_PX) + 1) };
}

/** The column at so many px from the first one; the nearest, beyond the ends. */
export function columnAt({ x }: Columns, px: number): number {
  let low = 0;
  let high = x.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((x[middle] ?? 0) <= px) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The px of a second, so that all columns fit if they can, none of them narrower than the least. */
function timeScale(spans: readonly number[], inner: number): number {
  let wide = spans;
  let room = inner;
  for (;;) {
    const sum = wide.reduce((whole, span) => whole + span, 0);
    const scale = Math.max(0, room) / Math.max(sum, 1e-9);
    const wider = wide.filter((span) => span * scale > LEAST_TIME_PX);
    if (wider.length === wide.length || wider.length === 0) return scale;
    room = inner - (spans.length - wider.length) * LEAST_TIME_PX;
    wide = wider;
  }
}
