/** The values of the blackboard's keys over the ticks of a run. */
import type { KeyFacts, TickFacts } from "./facts";

interface Change {
  readonly position: number; // of the tick; -1: before the first
  value: unknown;
}

/** What each key held after each tick. A tick costs as much as it wrote. */
export class ValueHistory {
  private readonly changes = new Map<string, Change[]>();

  constructor(keys: readonly KeyFacts[]) {
    for (const key of keys) this.changes.set(key.name, [{ position: -1, value: key.value ?? null }]);
  }

  /** Add what the tick at this position wrote. */
  append(position: number, writes: TickFacts["writes"]): void {
    for (const [key, value] of writes) {
      let known = this.changes.get(key);
      if (known === undefined) this.changes.set(key, (known = [{ position: -1, value: null }]));
      const last = known[known.length - 1];
      if (last?.position === position) last.value = value;
      else known.push({ position, value });
    }
  }

  /** The value of a key after the tick at this position; `undefined` of a key that nobody knows. */
  at(key: string, position: number): unknown {
    const known = this.changes.get(key);
    if (known === undefined) return undefined;
    let low = 0;
    let high = known.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((known[middle]?.position ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return known[low]?.value;
  }

  /** The names of all keys, declared ones first. */
  get names(): string[] {
    return [...this.changes.keys()];
  }
}
