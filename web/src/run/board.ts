/** The blackboard at one tick, as a list: what changed, what stayed, and how many keys are empty. */
import type { KeyFacts } from "./facts";
import type { RunModel } from "./model";

export interface BoardRow {
  readonly key: string;
  /** As declared: `int`, `text`; empty for a key that nobody declared. */
  readonly type: string;
  readonly description: string;
  /** Trees, and debuggers, may not write it. */
  readonly isReadOnly: boolean;
  readonly before: unknown;
  readonly value: unknown;
}

export interface Board {
  readonly changed: readonly BoardRow[];
  /** Keys with a value that the tick did not change. */
  readonly others: readonly BoardRow[];
  readonly empty: readonly BoardRow[];
}

export interface PastValue {
  /** The tick's position; -1: before the first tick. */
  readonly at: number;
  readonly value: unknown;
}

/** The blackboard after the tick at a position. */
export function boardAt(model: RunModel, at: number): Board {
  const declared = new Map(model.keys.map((key) => [key.name, key]));
  const written = new Set((model.ticks[at]?.writes ?? []).map(([key]) => key));
  const rows = model.keyNames.map((key) => rowOf(model, at, key, declared.get(key)));
  const isChanged = (row: BoardRow): boolean => written.has(row.key) && !isSame(row.before, row.value);
  const rest = rows.filter((row) => !isChanged(row)).sort((one, other) => (one.key < other.key ? -1 : 1));
  return {
    changed: [...written].flatMap((key) => rows.filter((row) => row.key === key && isChanged(row))),
    others: rest.filter((row) => !isEmpty(row.value)),
    empty: rest.filter((row) => isEmpty(row.value)),
  };
}

/** All values of a key so far, oldest first; equal values that follow each other are one. */
export function pastValues(model: RunModel, key: string, until: number): PastValue[] {
  const found: PastValue[] = [{ at: -1, value: model.value(key, -1) }];
  for (let at = 0; at <= until && at < model.ticks.length; at++) {
    if (!model.ticks[at]?.writes.some(([written]) => written === key)) continue;
    const value = model.value(key, at);
    if (!isSame(found.at(-1)?.value, value)) found.push({ at, value });
  }
  return found;
}

function rowOf(model: RunModel, at: number, key: string, facts: KeyFacts | undefined): BoardRow {
  return {
    key,
    type: facts?.type ?? "",
    description: facts?.description ?? "",
    isReadOnly: facts?.read_only ?? false,
    before: model.value(key, at - 1),
    value: model.value(key, at),
  };
}

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/** It has no value yet: null, an empty text, an empty list or an empty object. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
