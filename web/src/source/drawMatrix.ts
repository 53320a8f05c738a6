/** Draws the marks of the rows in view at the ticks in view: one path for each colour. */
import { MARGIN_PX, type Columns, type ColumnWindow } from "@/run/columns";
import { isAtWork, Mark } from "@/run/marks";
import type { RunModel } from "@/run/model";
import { ROW_PX } from "@/run/rows";
import { addDiamond, drawSeam, drawWarning, fillBox, strokeLine, write, type Pen } from "./pen";
import type { ColourName, Palette } from "./palette";

/** A row of the matrix: the node whose marks it has, from the top of the canvas. */
export interface MatrixRow {
  readonly y: number;
  readonly height: number;
  readonly node: number | null;
  readonly tint: ColourName | null;
}

export interface Matrix {
  readonly model: RunModel;
  readonly palette: Palette;
  readonly columns: Columns;
  readonly window: ColumnWindow;
  readonly at: number;
}

const DOT_FROM_PX = 8; // columns that are narrower have no dots
const MOST_MARK_PX = 11;

/** A node has a dot where it is withdrawn: it was in an earlier tick of the turn. */
export function drawMatrix(
  pen: Pen,
  matrix: Matrix,
  rows: readonly MatrixRow[],
  height: number,
  veiledTicks = 0,
): void {
  const { model, palette, columns, window, at } = matrix;
  const left = (position: number): number => MARGIN_PX + (columns.x[position] ?? 0) - window.from;
  const width = (position: number): number => columns.w[position] ?? 0;
  for (let position = window.first; position < window.end; position++)
    if ((model.ticks[position]?.turn ?? 0) % 2 === 1)
      fillBox(pen, palette.canvas, [left(position), 0, width(position) + 0.5, height]);
  pen.globalAlpha = 0.85;
  for (const row of rows)
    if (row.tint !== null) fillBox(pen, palette[row.tint], [0, row.y, columns.width, row.height]);
  pen.globalAlpha = 1;
  if (at >= 0) fillBox(pen, palette["head-soft"], [left(at), 0, width(at), height]);
  pen.save();
  pen.beginPath();
  pen.rect(MARGIN_PX, 0, columns.width, height);
  pen.clip();
  drawMarks(pen, matrix, rows);
  drawSeams(pen, matrix, height);
  pen.restore();
  if (veiledTicks > window.first) {
    const end = Math.min(veiledTicks, window.end) - 1;
    pen.globalAlpha = 0.55;
    fillBox(pen, palette.surface, [0, 0, left(end) + width(end), height]);
    pen.globalAlpha = 1;
  }
  if (at >= 0) {
    const x = Math.round(left(at)) + 0.5;
    strokeLine(pen, { colour: palette.head }, [
      [x, 0],
      [x, height],
    ]);
  }
}

/** Between the ticks of one worker and those of the next. */
function drawSeams(pen: Pen, { model, palette, columns, window }: Matrix, height: number): void {
  for (const { tick } of model.seams) {
    const at = model.indexOfTick(tick);
    if (at > 0 && at >= window.first && at < window.end)
      drawSeam(pen, palette, MARGIN_PX + (columns.x[at] ?? 0) - window.from, height);
  }
}

function drawMarks(pen: Pen, { model, palette, columns, window }: Matrix, rows: readonly MatrixRow[]): void {
  const paths = {
    ok: new Path2D(),
    no: new Path2D(),
    run: new Path2D(),
    error: new Path2D(),
    dot: new Path2D(),
  };
  for (const { node, y: top, height } of rows) {
    if (node === null) continue;
    const y = top + (ROW_PX + (height % ROW_PX)) / 2;
    let asked = -1; // the last turn in which it was
    for (let at = window.first; at < window.end; at++) {
      const mark = model.mark(node, at);
      const x = MARGIN_PX + (columns.x[at] ?? 0) - window.from;
      const w = columns.w[at] ?? 0;
      const middle = x + Math.min(w, 24) / 2;
      const size = Math.max(3, Math.min(MOST_MARK_PX, w - 3));
      const tall = Math.max(9, size);
      const turn = model.ticks[at]?.turn ?? 0;
      if (mark !== Mark.notAsked) asked = turn;
      switch (mark) {
        case Mark.success:
          paths.ok.roundRect(middle - size / 2, y - tall / 2, size, tall, 2);
          break;
        case Mark.guard:
          paths.ok.roundRect(middle - Math.min(2, size / 2), y - 2, Math.min(4, size), 4, 1);
          break;
        case Mark.failure: {
          const half = Math.max(2, Math.min(4, size / 2 - 0.5));
          paths.no.moveTo(middle - half, y - 4);
          paths.no.lineTo(middle + half, y + 4);
          paths.no.moveTo(middle + half, y - 4);
          paths.no.lineTo(middle - half, y + 4);
          break;
        }
        case Mark.error:
          addDiamond(paths.error, middle, y, Math.max(3.5, Math.min(6, size / 1.6)));
          break;
        case Mark.running:
        case Mark.carried:
        case Mark.halted: {
          const begun = at;
          let last: Mark = mark;
          while (isAtWork(last) && at + 1 < window.end && isBar(model.mark(node, at + 1))) {
            at += 1;
            last = model.mark(node, at);
            asked = model.ticks[at]?.turn ?? 0;
          }
          const from = isAtWork(model.mark(node, begun - 1)) ? x - 1 : x + 1;
          const end = MARGIN_PX + (columns.x[at] ?? 0) - window.from + (columns.w[at] ?? 0);
          const to =
            isAtWork(last) && isBar(model.mark(node, at + 1))
              ? end + 1
              : end - (last === Mark.halted ? 3 : 1);
          paths.run.roundRect(from, y - 2.5, Math.max(3, to - from), 5, 2.5);
          if (last === Mark.halted) paths.run.rect(end - 4, y - 5, 2, 10);
          break;
        }
        default:
          if (w > DOT_FROM_PX && asked === turn) paths.dot.rect(middle - 0.75, y - 0.75, 1.5, 1.5);
      }
    }
  }
  pen.fillStyle = palette["run-fill"];
  pen.fill(paths.run);
  pen.fillStyle = palette["ok-fill"];
  pen.fill(paths.ok);
  pen.fillStyle = palette["line-3"];
  pen.fill(paths.dot);
  pen.fillStyle = palette["err-fill"];
  pen.fill(paths.error);
  pen.strokeStyle = palette["fail-fill"];
  pen.lineWidth = 1.6;
  pen.stroke(paths.no);
}

function isBar(mark: Mark): boolean {
  return isAtWork(mark) || mark === Mark.halted;
}

const HEAD_PX = 36;

/** The heads of the columns: turns, a sign for each tick, and the number of the one that is shown. */
export function drawHead(pen: Pen, matrix: Matrix): void {
  const { model, palette, columns, window, at } = matrix;
  drawSeams(pen, matrix, HEAD_PX);
  const noticed = new Set(model.notices.map((notice) => notice.tick));
  const left = (position: number): number => MARGIN_PX + (columns.x[position] ?? 0) - window.from;
  const shown = model.ticks[at];
  let begun = window.first;
  for (let position = window.first; position < window.end; position++) {
    const tick = model.ticks[position];
    if (tick === undefined) break;
    const w = columns.w[position] ?? 0;
    const end = left(position) + w;
    const middle = left(position) + w / 2;
    if (position === window.end - 1 || model.ticks[position + 1]?.turn !== tick.turn) {
      drawTurn(
        pen,
        palette,
        tick.turn,
        [Math.max(0, left(begun)), Math.min(columns.width, end)],
        shown?.turn === tick.turn,
      );
      begun = position + 1;
    }
    if (tick.errors.length > 0) {
      const path = new Path2D();
      addDiamond(path, middle, 27, 5);
      pen.fillStyle = palette["err-fill"];
      pen.fill(path);
    } else if (noticed.has(tick.tick)) drawWarning(pen, palette, middle, 27);
    else if (w > DOT_FROM_PX) fillBox(pen, palette["line-3"], [middle - 1, 26, 2, 2], 1);
  }
  if (shown === undefined) return;
  const label = String(shown.tick);
  const wide = label.length * 7 + 9;
  const middle = left(at) + (columns.w[at] ?? 0) / 2;
  const x = Math.max(wide / 2, Math.min(columns.width - wide / 2, middle));
  fillBox(pen, palette.head, [x - wide / 2, 19, wide, 16], 3);
  write(pen, palette, label, [x, 27.5], { colour: palette["on-ink"], isStrong: true, align: "center" });
}

function drawTurn(
  pen: Pen,
  palette: Palette,
  turn: number,
  [left, right]: [number, number],
  isShown: boolean,
): void {
  const room = right - left;
  const label = turn === 0 ? "" : room > 44 ? `turn ${turn}` : room > 9 ? String(turn) : "";
  const colour = isShown ? palette.ink : palette["ink-3"];
  write(pen, palette, label, [(left + right) / 2, 8], { colour, isStrong: isShown, align: "center" });
  strokeLine(pen, { colour: isShown ? palette.ink : palette["line-2"], width: isShown ? 2 : 1 }, [
    [left + 1, 17],
    [right - 1, 17],
  ]);
}
