/** The status of each node at each tick, as one byte. */

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

/** The characters of the service for the marks, in their order. */
const CODES = ".+->=/!o";
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

/** Marks by tick and node. Ticks are named by their position in the run, from 0. */
export class MarkTable {
  private cells: Uint8Array;
  private length = 0;

  /** @param width how many nodes there are. */
  constructor(private readonly width: number) {
    this.cells = new Uint8Array(width * FIRST_CAPACITY);
  }

  /** The mark of a node at a tick; not asked beyond the ends. */
  at(node: number, position: number): Mark {
    if (position < 0 || position >= this.length || node < 0 || node >= this.width) return Mark.notAsked;
    return (this.cells[position * this.width + node] ?? 0) as Mark;
  }

  /** Add the marks of the next tick, a character for each node. */
  append(marks: string): void {
    const start = this.length * this.width;
    if (start + this.width > this.cells.length) this.grow();
    this.length += 1;
    for (let node = 0; node < marks.length && node < this.width; node++)
      this.cells[start + node] = CODES.indexOf(marks.charAt(node));
  }

  private grow(): void {
    const larger = new Uint8Array(this.cells.length * 2);
    larger.set(this.cells);
    this.cells = larger;
  }
}
