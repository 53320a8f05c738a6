/** What the views of a run take: the source with its matrix, and the overview. */
import type { Ref } from "react";
import type { RunModel } from "@/run/model";

/** The width of a matrix column: the same for each tick, or its true duration. */
export type Axis = "equal" | "time";

/** Some ticks, by position: from the first to that before `end`. */
export interface TickRange {
  readonly first: number;
  readonly end: number;
}

/** A breakpoint at a node, as the gutter shows it. */
export interface BreakpointMark {
  readonly enabled: boolean;
  /** Why it cannot be hit; empty if it can. */
  readonly problem?: string;
}

/** A second run on the same source. */
export interface Comparison {
  readonly model: RunModel;
  /** The position of its tick that is shown. */
  readonly at: number;
  /** How many ticks are equal in both runs: they are under a veil. */
  readonly equalTicks: number;
  readonly onSelectTick: (at: number) => void;
}

/** What a page can ask the source to do. Rows are named by their index in `sourceOf(model)`. */
export interface SourceHandle {
  /** Select and show the line of the node that decided. */
  revealDecision: () => void;
  /** Select and show the line of a node; opens what it is folded in. */
  revealNode: (node: number) => void;
  /** Select the line below (1) or above (-1). */
  moveRow: (step: number) => void;
  /** Fold or open the selected line. */
  toggleRow: () => void;
  /** Select and show the next line with these words, below (1) or above (-1); false if there is none. */
  find: (words: string, direction?: 1 | -1) => boolean;
  /** The selected line's node; `null` without one. */
  selectedNode: () => number | null;
  focus: () => void;
}

export interface SourceViewProps {
  readonly model: RunModel;
  /** The position of the tick that is shown; -1 before the first. */
  readonly at: number;
  readonly onSelectTick: (at: number) => void;
  /** Fold what the tick did not ask; else all lines of the file. */
  readonly follow: boolean;
  readonly axis: Axis;
  readonly selectedRow: number | null;
  readonly onSelectRow: (row: number | null) => void;
  /** By node. */
  readonly breakpoints?: ReadonlyMap<number, BreakpointMark> | undefined;
  /** Without it the gutter has no place for breakpoints to click on. */
  readonly onToggleBreakpoint?: ((node: number) => void) | undefined;
  /** The node at whose breakpoint the run is paused. */
  readonly pausedAt?: number | null | undefined;
  /** The run is under way: the view stays at the decision as ticks come. */
  readonly live?: boolean;
  readonly compare?: Comparison;
  /** Told which ticks the matrix shows, if it does not show all; else `null`. */
  readonly onWindow?: (range: TickRange | null) => void;
  readonly ref?: Ref<SourceHandle>;
}

export interface OverviewProps {
  readonly model: RunModel;
  readonly at: number;
  readonly onSelectTick: (at: number) => void;
  /** The part of the run that the matrix shows; `null` or left out if it shows all. */
  readonly window?: TickRange | null;
}
