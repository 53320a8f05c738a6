/** The history of all ticks beside the rows: one column a tick, one canvas for the rows in view. */
import { useMemo, useState } from "react";
import { columnAt, makeColumns, MARGIN_PX, windowAt, type Columns, type ColumnWindow } from "@/run/columns";
import { Mark } from "@/run/marks";
import type { RunModel } from "@/run/model";

import type { PlacedRow } from "./arrange";
import { Canvas } from "./Canvas";
import { drawHead, drawMatrix, type Matrix } from "./drawMatrix";
import type { Axis, TickRange } from "./interface";
import { usePalette, type ColourName } from "./palette";
import { useScrub } from "./useScrub";

const HEAD_PX = 36;

interface MatrixOptions {
  model: RunModel;
  version: number;
  at: number;
  axis: Axis;
  /** Of the whole view. */
  width: number;
  /** How many matrices share the view; 0: this one is not shown. */
  sharing: 0 | 1 | 2;
  /** The ticks of the longest run, whose columns are as wide as those of the other. */
  longest: number;
  /** The ticks from the first on that are under a veil. */
  veiledTicks?: number;
  onSelectTick: (at: number) => void;
}

/** What the parts of one matrix share. */
export interface MatrixView extends Matrix {
  readonly width: number;
  readonly veiledTicks: number;
  readonly range: TickRange;
  readonly onSelectTick: (at: number) => void;
}

export function useMatrix(options: MatrixOptions): MatrixView {
  const { model, version, at, axis, width, sharing, longest, veiledTicks = 0, onSelectTick } = options;
  const palette = usePalette();
  const [from, setFrom] = useState(0);
  const columns = useMemo(
    () => makeColumns(sharing === 0 ? [] : model.ticks, { axis, atLeast: longest, ...sizes(width, sharing) }),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `version` stands for what the model holds
    [model, version, axis, width, sharing, longest],
  );
  const window = windowAt(columns, at, from);
  if (window.from !== from) setFrom(window.from);
  const range = { first: window.first, end: window.end };
  return {
    model,
    palette,
    columns,
    window,
    at,
    width: sharing === 0 ? 0 : columns.width,
    veiledTicks,
    range,
    onSelectTick,
  };
}

/** Wide views have room for wider columns. */
function sizes(width: number, sharing: number): { room: number; narrowest: number; widest: number } {
  if (width < 480) return { room: 66, narrowest: 11, widest: 12 };
  if (sharing === 2) return { room: Math.min(300, width * 0.24), narrowest: 10, widest: 14 };
  if (width >= 1000) return { room: 400, narrowest: 14, widest: 17 };
  return { room: Math.min(264, width * 0.34), narrowest: 11, widest: 12 };
}

function tickAt(columns: Columns, window: ColumnWindow, x: number): number {
  return columns.x.length === 0 ? -1 : columnAt(columns, x + window.from - MARGIN_PX);
}

/** The turns and ticks above the columns. */
export function MatrixHead({ matrix, left }: { matrix: MatrixView; left: number }) {
  const scrub = useScrub((x) => tickAt(matrix.columns, matrix.window, x), matrix.onSelectTick);
  return (
    <Canvas
      className="absolute cursor-ew-resize touch-pan-y"
      width={matrix.width}
      height={HEAD_PX - 1}
      style={{ left }}
      draw={(pen) => drawHead(pen, matrix)}
      {...scrub}
    />
  );
}

interface MatrixRowsProps {
  matrix: MatrixView;
  left: number;
  top: number;
  height: number;
  rows: readonly PlacedRow[];
  rowY: (index: number) => number;
  selectedRow: number | null;
  /** Of the second run. */
  isOther?: boolean;
}

/** The marks of some rows. A press or a drag chooses a tick. */
export function MatrixRows({
  matrix,
  left,
  top,
  height,
  rows,
  rowY,
  selectedRow,
  isOther = false,
}: MatrixRowsProps) {
  const scrub = useScrub((x) => tickAt(matrix.columns, matrix.window, x), matrix.onSelectTick);
  return (
    <Canvas
      className="absolute cursor-ew-resize touch-pan-y"
      width={matrix.width}
      height={height}
      style={{ left, top }}
      draw={(pen) =>
        drawMatrix(
          pen,
          matrix,
          rows.map((each, index) => ({
            y: rowY(index),
            height: each.height,
            node: isOther ? each.otherNode : each.node,
            tint: tintOf(each, selectedRow),
          })),
          height,
          matrix.veiledTicks,
        )
      }
      {...scrub}
    />
  );
}

function tintOf({ mark, isDecision, row, sign }: PlacedRow, selectedRow: number | null): ColourName | null {
  if (sign !== "") return sign === "-" ? "del" : "add";
  if (mark === Mark.error) return "err-soft";
  if (!isDecision) return row.index === selectedRow ? "sel" : null;
  return mark === Mark.failure
    ? "fail-soft"
    : mark === Mark.success || mark === Mark.guard
      ? "ok-soft"
      : "run-soft";
}
