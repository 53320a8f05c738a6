/** The status of each node at each tick, as one byte. */
import type { NodeFacts, TickFacts } from "./facts";

/**
 * What the matrix shows for a node at a tick.
 *
 * `carried`: the node was not asked and is still running; `halted`: it was running and was stopped; `guard`: a guard
 * that holds, which is no news.
 */
export const Mark = {
  notAsked: 0,
  success: 1,
  failure: 2,
  running: 3,
  carried: 4,
  halted: 5,
  error: 6,
  guard: 7,
} as const;
export type Mark = (typeof Mark)[keyof typeof Mark];

const MARK_OF = {
  SUCCESS: Mark.success,
  FAILURE: Mark.failure,
  RUNNING: Mark.running,
  INVALID: Mark.notAsked,
} as const;
const WORDS = [
  "not asked",
  "success",
  "failure",
  "running",
  "running",
  "halted",
  "error",
  "success",
] as const;

/** The mark in words, for labels. */
export function markWord(mark: Mark): string {
  return WORDS[mark];
}

/** The node is at work at this mark: what it does goes on in the next tick, or is stopped there. */
export function isAtWork(mark: Mark): boolean {
  return mark === Mark.running || mark === Mark.carried;
}

const FIRST_CAPACITY = 64; // ticks

/**
 * Marks by tick and node. A tick costs as much as the nodes that it visited, and those that are running.
 *
 * Ticks are named by their position in the run, from 0.
 */
export class MarkTable {
  private readonly width: number;
  private readonly indexOfPath: ReadonlyMap<string, number>;
  private readonly isGuard: readonly boolean[];
  private readonly latest: Uint8Array; // mark of each node after the last tick
  private readonly running = new Set<number>();
  private cells: Uint8Array;
  private length = 0;

  constructor(nodes: readonly NodeFacts[]) {
    this.width = nodes.length;
    this.indexOfPath = new Map(nodes.map((node) => [node.path, node.index]));
    this.isGuard = nodes.map((node) => node.slot === "guards");
    this.latest = new Uint8Array(nodes.length);
    this.cells = new Uint8Array(nodes.length * FIRST_CAPACITY);
  }

  /** The mark of a node at a tick; not asked beyond the ends. */
  at(node: number, position: number): Mark {
    if (position < 0 || position >= this.length || node < 0 || node >= this.width) return Mark.notAsked;
    return (this.cells[position * this.width + node] ?? 0) as Mark;
  }

  /** Add the marks of the next tick. */
  append(tick: TickFacts): void {
    const start = this.length * this.width;
    if (start + this.width > this.cells.length) this.grow();
    this.length += 1;
    const halted: number[] = [];
    for (const [node, status] of tick.changes) {
      if (node >= this.width) continue;
      const mark = MARK_OF[status];
      if (this.running.has(node) && mark === Mark.notAsked) halted.push(node);
      this.latest[node] = mark;
      if (mark === Mark.running) this.running.add(node);
      else this.running.delete(node);
    }
    for (const node of this.running) this.cells[start + node] = Mark.carried;
    for (const node of halted) this.cells[start + node] = Mark.halted;
    for (const node of tick.visited) {
      const mark = this.latest[node] ?? Mark.notAsked;
      if (node < this.width)
        this.cells[start + node] = mark === Mark.success && this.isGuard[node] ? Mark.guard : mark;
    }
    for (const [path] of tick.errors) {
      const node = this.indexOfPath.get(path);
      if (node !== undefined) this.cells[start + node] = Mark.error;
    }
  }

  private grow(): void {
    const larger = new Uint8Array(this.cells.length * 2);
    larger.set(this.cells);
    this.cells = larger;
  }
}
