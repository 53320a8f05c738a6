/** The graph of a tree at one tick as shapes, in the colours of the theme: for the screen, for SVG and for PNG. */
import { Mark, type Mark as MarkValue } from "@/run/marks";
import type { Box, Layout } from "./layout";

/** A variable of the theme, without its dashes. */
export type Paint = string;

export type Shape =
  | {
      readonly kind: "path";
      readonly d: string;
      readonly x: number;
      readonly y: number;
      readonly fill?: Paint;
      readonly stroke?: Paint;
      readonly width?: number;
    }
  | {
      readonly kind: "text";
      readonly text: string;
      readonly x: number;
      readonly y: number;
      readonly fill: Paint;
      readonly size: number;
      readonly isStrong: boolean;
    };

export interface Drawn {
  readonly box: Box;
  readonly shapes: readonly Shape[];
}

export interface Scene {
  readonly width: number;
  readonly height: number;
  readonly edges: readonly Shape[];
  readonly nodes: readonly Drawn[];
}

export interface SceneFacts {
  readonly markOf: (node: number) => MarkValue;
  /** From the root to the decision. */
  readonly way: ReadonlySet<number>;
  readonly decision: number | null;
  readonly selected: number | null;
}

const FAMILY = ["", "ok", "fail", "run", "run", "run", "err", "ok"] as const; // by mark
const CIRCLE = "M.5 6a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0z";
const CHECK = "M3.4 6.2 5.2 8l3.4-3.8";
const SMALL_DOT = "M4.8 6a1.2 1.2 0 1 0 2.4 0a1.2 1.2 0 1 0-2.4 0z";

export function sceneOf(layout: Layout, facts: SceneFacts): Scene {
  return {
    width: layout.width,
    height: layout.height,
    edges: layout.edges.map(([from, to]) => edge(layout.boxes[from], layout.boxes[to], facts)),
    nodes: layout.boxes.map((box) => ({ box, shapes: node(box, facts) })),
  };
}

function edge(from: Box | undefined, to: Box | undefined, { markOf, way }: SceneFacts): Shape {
  if (from === undefined || to === undefined) return { kind: "path", d: "", x: 0, y: 0 };
  const [x1, y1] = [from.x + from.width, from.y + from.height / 2];
  const [x2, y2] = [to.x, to.y + to.height / 2];
  const bend = Math.min(24, (x2 - x1) / 2);
  const isOnWay = way.has(from.node) && way.has(to.node);
  const family = FAMILY[markOf(to.node)];
  return {
    kind: "path",
    d: `M${round(x1)} ${round(y1)}C${round(x2 - bend)} ${round(y1)} ${round(x2 - bend)} ${round(y2)} ${round(x2)} ${round(y2)}`,
    x: 0,
    y: 0,
    stroke: isOnWay && family ? `${family}-fill` : "line-2",
    width: isOnWay ? 2 : 1,
  };
}

function node(box: Box, { markOf, decision, selected }: SceneFacts): Shape[] {
  const mark = markOf(box.node);
  const family = FAMILY[mark];
  const isAsked = mark !== Mark.notAsked;
  const isSelected = box.node === selected;
  const stroke = isSelected ? "ink" : family && isAsked ? `${family}-fill` : "line-2";
  const fill = box.node === decision && family ? `${family}-soft` : "surface";
  const middle = box.y + box.height / 2;
  const shapes: Shape[] = [
    {
      kind: "path",
      d: rounded(box.width, box.height, 6),
      x: box.x,
      y: box.y,
      fill,
      stroke,
      width: isSelected ? 2 : 1,
    },
    ...markShapes(mark).map((shape) => ({ ...shape, x: box.x + 9, y: middle - 6 })),
    text(box.title, box.x + 27, middle + 4, isAsked ? "ink" : "ink-3", 12, isAsked),
  ];
  if (box.kind)
    shapes.push(text(box.kind, box.x + 35 + box.title.length * 7, middle + 4, "ink-3", 11, false));
  if (box.hidden > 0)
    shapes.push(text(`+${String(box.hidden)}`, box.x + box.width + 6, middle + 4, "ink-3", 11, false));
  return shapes;
}

function markShapes(mark: MarkValue): (Shape & { kind: "path" })[] {
  const path = (d: string, more: Omit<Shape & { kind: "path" }, "kind" | "d" | "x" | "y">) =>
    ({ kind: "path", d, x: 0, y: 0, ...more }) as const;
  switch (mark) {
    case Mark.success:
    case Mark.guard:
      return [path(CIRCLE, { fill: "ok-fill" }), path(CHECK, { stroke: "on-mark", width: 1.5 })];
    case Mark.failure:
      return [path("m2.5 2.5 7 7M9.5 2.5l-7 7", { stroke: "fail-fill", width: 1.8 })];
    case Mark.running:
    case Mark.carried:
      return [path("M3 3.5h6a2.5 2.5 0 0 1 0 5h-6a2.5 2.5 0 0 1 0-5z", { fill: "run-fill" })];
    case Mark.halted:
      return [path("M1 6h8M10 3v6", { stroke: "run-fill", width: 2 })];
    case Mark.error:
      return [
        path("M6 .3 11.7 6 6 11.7.3 6z", { fill: "err-fill" }),
        path("M6 3.2v3.4M6 8.4v.2", { stroke: "on-mark", width: 1.5 }),
      ];
    case Mark.notAsked:
      return [path(SMALL_DOT, { fill: "line-3" })];
  }
}

const text = (words: string, x: number, y: number, fill: Paint, size: number, isStrong: boolean): Shape => ({
  kind: "text",
  text: words,
  x,
  y,
  fill,
  size,
  isStrong,
});

function rounded(width: number, height: number, radius: number): string {
  const [w, h] = [round(width - 2 * radius), round(height - 2 * radius)];
  const corner = (x: number, y: number): string => `a${radius} ${radius} 0 0 1 ${x} ${y}`;
  return `M${radius} 0h${w}${corner(radius, radius)}v${h}${corner(-radius, radius)}h${-w}${corner(-radius, -radius)}v${-h}${corner(radius, -radius)}z`;
}

const round = (value: number): number => Math.round(value * 10) / 10;
