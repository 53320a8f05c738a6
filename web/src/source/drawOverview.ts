/** Draws the whole run in true time: the model's turns, tools, notices, and how near the limits were. */
import type { RunModel } from "@/run/model";
import { compact, duration } from "@/parts/format";
import type { TickRange } from "./interface";
import { stateOf } from "@/parts/interrupts/asking";
import { addDiamond, drawAsked, drawSeam, drawWarning, fillBox, fontOf, strokeLine, write } from "./pen";
import type { Pen, Words } from "./pen";
import type { Palette } from "./palette";

/** Where times and ticks are, in px. A run whose clock stood still has its ticks at equal distances. */
export interface TimeScale {
  readonly left: number;
  readonly width: number;
  readonly xOf: (seconds: number, tick: number) => number;
  readonly xAt: (at: number) => number;
}

const WIDE_FROM_PX = 820;

/** @param now seconds of the run's clock; what is under way goes on until then. */
export function timeScale(model: RunModel, width: number, now: number): TimeScale {
  const isWide = width >= WIDE_FROM_PX;
  const left = width < 480 ? 8 : 72;
  const inner = Math.max(1, width - left - (isWide ? 152 : 12));
  const ends = model.turns.map((turn) => turn.ended_s ?? turn.began_s);
  const whole = Math.max(now, model.ticks.at(-1)?.at_s ?? 0, ...ends.slice(-1));
  const count = Math.max(1, model.ticks.length);
  const equal = (at: number): number => left + ((Math.max(0, at) + 0.5) / count) * inner;
  const xAt = (at: number): number =>
    whole > 0 ? left + ((model.ticks[at]?.at_s ?? 0) / whole) * inner : equal(at);
  const xOf = (seconds: number, tick: number): number =>
    whole > 0 ? left + (Math.min(seconds, whole) / whole) * inner : equal(model.indexOfTick(tick));
  return { left, width: inner, xOf, xAt };
}

/** The tick that is nearest to a place. */
export function nearestTick(model: RunModel, scale: TimeScale, x: number): number {
  let low = 0;
  let high = model.ticks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (scale.xAt(middle) <= x) low = middle;
    else high = middle - 1;
  }
  return low + 1 < model.ticks.length && scale.xAt(low + 1) - x < x - scale.xAt(low) ? low + 1 : low;
}

export interface OverviewDrawing {
  readonly model: RunModel;
  readonly palette: Palette;
  readonly scale: TimeScale;
  readonly at: number;
  readonly window: TickRange | null;
  readonly width: number;
  readonly height: number;
  readonly now: number;
}

interface Lanes {
  readonly turn: number;
  readonly model: number;
  readonly tools: number;
  readonly notices: number;
  readonly limit: number;
  readonly foot: number;
}

const TALL: Lanes = { turn: 11, model: 28, tools: 40, notices: 60, limit: 78, foot: 124 };
const SHORT: Lanes = { turn: 9, model: 22, tools: 32, notices: 51, limit: 64, foot: 84 };
const MOST_LANES = 3;
const MARK_PX = 11;
const HEAD_PX = 5; // half of the play head

export function drawOverview(pen: Pen, drawing: OverviewDrawing): void {
  const lanes = drawing.height < 120 ? SHORT : TALL;
  drawTurns(pen, drawing, lanes);
  drawCalls(pen, drawing, lanes);
  drawLimits(pen, drawing, lanes);
  for (const seam of drawing.model.seams)
    drawSeam(pen, drawing.palette, drawing.scale.xOf(seam.at_s, seam.tick), drawing.height);
  if (drawing.scale.left > 40) drawNames(pen, drawing, lanes);
  drawPlayHead(pen, drawing);
  drawNotices(pen, drawing, lanes); // they are seen on the play head
  drawErrors(pen, drawing, lanes);
  if (drawing.window !== null) drawWindow(pen, drawing, drawing.window);
}

/** Write words up to a place, beside the play head if it would hide them; answers where they end, or begin if there is no room. */
function writeClear(
  pen: Pen,
  { palette, scale, at }: OverviewDrawing,
  text: string,
  [left, y, until]: readonly [number, number, number],
  words: Words,
): number {
  const head = scale.xAt(at);
  pen.font = fontOf(palette, words);
  const room = pen.measureText(text).width;
  const isHidden = left < head + HEAD_PX && head - HEAD_PX < left + room;
  const behind = head + HEAD_PX + 2;
  const x = !isHidden ? left : behind + room <= until ? behind : head - HEAD_PX - 2 - room;
  if (x < left - 5 || x + room > until) return left;
  return x + write(pen, palette, text, [x, y], words);
}

function drawTurns(pen: Pen, drawing: OverviewDrawing, lanes: Lanes): void {
  const { model, palette, scale, at, height, now } = drawing;
  const shown = model.ticks[at]?.turn;
  const { turns } = model;
  const first = turns[0];
  turns.forEach((turn, index) => {
    const next = turns[index + 1];
    const left = index === 0 && first !== undefined ? scale.left : scale.xOf(turn.began_s, turn.began_tick);
    const end = next === undefined ? scale.left + scale.width : scale.xOf(next.began_s, next.began_tick);
    if (index % 2 === 0) fillBox(pen, palette.canvas, [left, 0, end - left, height]);
  });
  let free = 0;
  turns.forEach((turn, index) => {
    const next = turns[index + 1];
    const left = scale.xOf(turn.began_s, turn.began_tick);
    const isRunning = turn.ended_s === null && model.run.status === "running";
    const right = scale.xOf(
      turn.ended_s ?? (isRunning ? now : turn.began_s),
      turn.ended_tick ?? turn.began_tick,
    );
    const end = next === undefined ? scale.left + scale.width : scale.xOf(next.began_s, next.began_tick);
    const isShown = turn.n === shown;
    const label = end - left > 48 ? `Turn ${turn.n}` : end - left > 14 ? String(turn.n) : "";
    if (label !== "" && left >= free) {
      const colour = isShown ? palette.ink : palette["ink-3"];
      free = 3 + writeClear(pen, drawing, label, [left + 5, lanes.turn, end], { colour, isStrong: isShown });
    }
    const colour = turn.error === "" || turn.error === undefined ? palette["run-fill"] : palette["err-fill"];
    fillBox(pen, colour, [left + 1, lanes.model - 6, Math.max(2, right - left - 2), 12], 2);
    if (right - left > 46 && turn.ended_s !== null)
      write(pen, palette, duration(turn.ended_s - turn.began_s), [left + 5, lanes.model + 0.5], {
        colour: palette["on-mark"],
        size: 10,
      });
  });
}

function drawCalls(pen: Pen, { model, palette, scale, now }: OverviewDrawing, lanes: Lanes): void {
  const busy: number[] = [];
  for (const call of model.calls) {
    const left = scale.xOf(call.began_s, call.began_tick);
    const isRunning = call.ended_s === null && call.ran === true && model.run.status === "running";
    const right = scale.xOf(
      call.ended_s ?? (isRunning ? now : call.began_s),
      call.ended_tick ?? call.began_tick,
    );
    const free = busy.findIndex((until) => until <= left);
    const lane = free < 0 ? busy.length : free;
    busy[lane] = Math.max(right, left + 4);
    if (lane >= MOST_LANES) continue;
    const isError = call.is_error && call.ran !== false; // what was not run has not failed
    const colour = isError ? palette["err-fill"] : palette["ink-2"];
    fillBox(pen, colour, [left, lanes.tools + lane * 5 - 1, Math.max(3, right - left), 4], 1);
  }
}

/** Notices, and what people are asked. */
function drawNotices(pen: Pen, drawing: OverviewDrawing, lanes: Lanes): void {
  const { model, palette, scale, width } = drawing;
  const asked = new Map<number, { tick: number; at_s: number; text: string; isAsked: true }>();
  for (const { tick, at_s, interrupt } of model.interrupts) {
    const { words } = stateOf(model.decisionOn(interrupt.id)?.interrupt ?? interrupt);
    const before = asked.get(tick);
    const text = `${before ? `${before.text}, ` : ""}${interrupt.tool_name ?? "question"}: ${words}`;
    asked.set(tick, { tick, at_s, text, isAsked: true });
  }
  const marks = [...model.notices.map((notice) => ({ ...notice, isAsked: false })), ...asked.values()];
  marks.sort((one, other) => one.at_s - other.at_s);
  const places: number[] = [];
  for (const { tick, at_s, isAsked } of marks) {
    const place = Math.min(scale.left + scale.width - 5, scale.xOf(at_s, tick));
    places.push(isAsked ? Math.max(place, (places.at(-1) ?? -MARK_PX) + MARK_PX) : place); // beside a notice
  }
  let free = 0;
  marks.forEach(({ text: words, isAsked }, index) => {
    const x = places[index] ?? 0;
    strokeLine(pen, { colour: palette[isAsked ? "line-3" : "warn-fill"], dash: [2, 2] }, [
      [x, lanes.notices + 6],
      [x, lanes.foot],
    ]);
    (isAsked ? drawAsked : drawWarning)(pen, palette, x, lanes.notices);
    if (width < 480 || x < free) return;
    const text = words.split(". ")[0]?.slice(0, 44) ?? "";
    const colour = isAsked ? palette["ink-2"] : palette.warn;
    const until = Math.min(width, places[index + 1] ?? Infinity) - MARK_PX;
    free = 9 + writeClear(pen, drawing, text, [x + 9, lanes.notices, until], { colour });
  });
}

interface LimitLine {
  readonly name: string;
  readonly figure: string;
  readonly dash: readonly number[];
  /** How much of the limit is used at the end. */
  readonly share: number;
}

function drawLimits(pen: Pen, drawing: OverviewDrawing, lanes: Lanes): void {
  const { model, palette, scale, at } = drawing;
  const { limits } = model.run;
  const yOf = (share: number): number => lanes.foot - Math.min(1.05, share) * (lanes.foot - lanes.limit);
  const right = scale.left + scale.width;
  strokeLine(pen, { colour: palette["line-3"] }, [
    [scale.left, lanes.limit + 0.5],
    [right, lanes.limit + 0.5],
  ]);
  const warn = limits.soft_warning_percent ?? 0;
  if (warn > 0)
    strokeLine(pen, { colour: palette["warn-fill"], dash: [3, 3] }, [
      [scale.left, Math.round(yOf(warn / 100)) + 0.5],
      [right, Math.round(yOf(warn / 100)) + 0.5],
    ]);
  const shown = model.ticks[at];
  const lines: LimitLine[] = [];
  const rise = (
    name: string,
    limit: number,
    amount: (index: number) => number,
    dash: readonly number[],
  ): void => {
    if (limit <= 0) return;
    let sum = 0;
    let used = 0;
    const points: [number, number][] = [[scale.left, yOf(0)]];
    model.turns.forEach((turn, index) => {
      if (turn.ended_tick === null || turn.ended_s === null) return;
      const x = scale.xOf(turn.ended_s, turn.ended_tick);
      points.push([x, yOf(sum / limit)]);
      sum += amount(index);
      points.push([x, yOf(sum / limit)]);
      if (shown !== undefined && turn.ended_tick <= shown.tick) used = sum;
    });
    points.push([right, yOf(sum / limit)]);
    if (dash.length === 0) fillUnder(pen, palette, points, lanes.foot);
    strokeLine(pen, { colour: palette.ink, width: 1.5, dash }, points);
    lines.push({ name, figure: `${compact(used)}/${compact(limit)}`, dash, share: sum / limit });
  };
  const isFinished = (index: number): boolean =>
    !model.turns[index]?.interrupted && !model.turns[index]?.error;
  rise("turns", limits.max_iterations ?? 0, (index) => (isFinished(index) ? 1 : 0), []);
  rise("tokens", limits.token_budget ?? 0, (index) => model.turns[index]?.tokens ?? 0, [4, 2]);
  const timeout = limits.timeout_seconds ?? 0;
  const end = Math.max(drawing.now, model.ticks.at(-1)?.at_s ?? 0);
  if (timeout > 0 && end > 0) {
    const dash = [1.5, 2];
    strokeLine(pen, { colour: palette["ink-3"], dash }, [
      [scale.left, yOf(0)],
      [right, yOf(end / timeout)],
    ]);
    const figure = `${(shown?.at_s ?? 0).toFixed(1)}/${compact(timeout)} s`;
    lines.push({ name: "time", figure, dash, share: end / timeout });
  }
  if (drawing.width >= WIDE_FROM_PX)
    drawFigures(pen, palette, lines, { x: right + 8, foot: lanes.foot, yOf });
}

function fillUnder(
  pen: Pen,
  palette: Palette,
  points: readonly (readonly [number, number])[],
  foot: number,
): void {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) return;
  pen.fillStyle = palette["head-soft"];
  pen.beginPath();
  pen.moveTo(first[0], foot);
  for (const point of points) pen.lineTo(...point);
  pen.lineTo(last[0], foot);
  pen.fill();
}

/** The figures stand at the ends of their lines, as far as they have room. */
function drawFigures(
  pen: Pen,
  palette: Palette,
  lines: readonly LimitLine[],
  place: { x: number; foot: number; yOf: (share: number) => number },
): void {
  const ordered = [...lines].sort((one, other) => one.share - other.share);
  let lowest = place.foot - 2;
  for (const { name, figure, dash, share } of ordered) {
    const y = Math.min(lowest, place.yOf(share));
    lowest = y - 14;
    strokeLine(pen, { colour: palette.ink, width: 1.5, dash }, [
      [place.x, y],
      [place.x + 14, y],
    ]);
    const width = write(pen, palette, name, [place.x + 20, y], { colour: palette["ink-3"] });
    write(pen, palette, figure, [place.x + 24 + width, y], { colour: palette.ink, isStrong: true });
  }
}

function drawErrors(pen: Pen, { model, palette, scale }: OverviewDrawing, lanes: Lanes): void {
  const path = new Path2D();
  for (const error of model.errors) addDiamond(path, scale.xAt(error.at), lanes.turn, 5);
  pen.fillStyle = palette["err-fill"];
  pen.strokeStyle = palette.surface;
  pen.lineWidth = 2;
  pen.stroke(path);
  pen.fill(path);
}

function drawNames(pen: Pen, { model, palette }: OverviewDrawing, lanes: Lanes): void {
  const colour = palette["ink-3"];
  write(pen, palette, "Model", [16, lanes.model], { colour });
  write(pen, palette, "Tools", [16, lanes.tools + 3], { colour });
  write(pen, palette, "Notices", [16, lanes.notices], { colour });
  write(pen, palette, "Limit", [16, lanes.limit + 1], { colour });
  const warn = model.run.limits.soft_warning_percent ?? 0;
  if (warn > 0) {
    const y = lanes.foot - (warn / 100) * (lanes.foot - lanes.limit);
    write(pen, palette, `${warn} %`, [16, Math.max(lanes.limit + 14, y)], { colour: palette.warn });
  }
}

/** A frame around what the matrix shows; the rest steps back. */
function drawWindow(
  pen: Pen,
  { palette, scale, height, model }: OverviewDrawing,
  { first, end }: TickRange,
): void {
  const left = scale.xAt(first);
  const right = end >= model.ticks.length ? scale.left + scale.width : scale.xAt(end);
  pen.globalAlpha = 0.55;
  fillBox(pen, palette.surface, [scale.left, 0, left - scale.left, height]);
  fillBox(pen, palette.surface, [right, 0, scale.left + scale.width - right, height]);
  pen.globalAlpha = 1;
  pen.strokeStyle = palette["line-3"];
  pen.lineWidth = 1;
  pen.strokeRect(left + 0.5, 0.5, right - left - 1, height - 1);
  for (const x of [left, right]) fillBox(pen, palette["ink-3"], [x - 2, height / 2 - 7, 4, 14], 2);
}

function drawPlayHead(pen: Pen, { palette, scale, at, height }: OverviewDrawing): void {
  if (at < 0) return;
  const x = scale.xAt(at);
  strokeLine(pen, { colour: palette.head, width: 2 }, [
    [x, 0],
    [x, height],
  ]);
  fillBox(pen, palette.head, [x - HEAD_PX, 0, 2 * HEAD_PX, 7], 2);
  pen.beginPath();
  pen.moveTo(x - HEAD_PX, 6);
  pen.lineTo(x + HEAD_PX, 6);
  pen.lineTo(x, 11);
  pen.fill();
}
