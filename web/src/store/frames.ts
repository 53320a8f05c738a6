/**
 * A queue that is emptied once per animation frame, so that a fast stream costs one drawing per frame and not one per
 * piece. A hidden page has no frames: there it is emptied every half second.
 */
export class FrameQueue<T> {
  readonly #apply: (items: readonly T[]) => void;
  #items: T[] = [];
  #frame: number | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(apply: (items: readonly T[]) => void) {
    this.#apply = apply;
  }

  push(item: T): void {
    this.#items.push(item);
    if (this.#timer !== null) return;
    this.#frame = requestAnimationFrame(this.flush);
    this.#timer = setTimeout(this.flush, 500);
  }

  /** Apply what is queued now. */
  readonly flush = (): void => {
    const items = this.#items;
    this.clear();
    if (items.length > 0) this.#apply(items);
  };

  /** Drop what is queued. */
  clear(): void {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#frame = this.#timer = null;
    this.#items = [];
  }
}
