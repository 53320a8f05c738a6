/** The shape of a run: when the model worked, tools ran and notices came, as paths of an SVG. */
import type { Schemas } from "@/api/types";

export type Spans = Schemas["RunSummary"]["shape"];

export const WIDTH = 240;
export const HEIGHT = 18;
/** So long a run fills the column. */
const FULL_S = 60;
const MODEL = { top: 3, height: 8, least: 2, gap: 1.5 };
const TOOL = { top: 13, height: 3, least: 2.5 };

export interface ShapePaths {
  /** How far the run reaches. */
  width: number;
  model: string;
  tools: string;
  notices: string;
}

/** The width of a run's shape: it grows with the root of the time, so that short runs can be told apart. */
export const widthOf = (seconds: number): number =>
  Math.min(WIDTH, Math.max(3, WIDTH * Math.sqrt(Math.max(0, seconds) / FULL_S)));

const round = (value: number): string => String(Math.round(value * 10) / 10);

const box = (x: number, width: number, { top, height }: { top: number; height: number }): string =>
  `M${round(x)} ${top}h${round(width)}v${height}h${round(-width)}z`;

export function shapeOf(spans: Spans, seconds: number): ShapePaths {
  const lastMs = spans.reduce((last, [, start, took]) => Math.max(last, start + took), 1);
  const totalMs = Math.max(seconds * 1000, lastMs);
  const width = widthOf(totalMs / 1000);
  const at = (ms: number) => (ms / totalMs) * width;
  const paths: ShapePaths = { width, model: "", tools: "", notices: "" };
  for (const [kind, start, took] of spans) {
    if (kind === "turn") paths.model += box(at(start), Math.max(MODEL.least, at(took) - MODEL.gap), MODEL);
    else if (kind === "tool") paths.tools += box(at(start), Math.max(TOOL.least, at(took)), TOOL);
    else paths.notices += `M${round(at(start))} 0v${HEIGHT}`;
  }
  return paths;
}
