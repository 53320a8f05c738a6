/** The limits of a question that the chat shows: turns, tokens, time. */

export type LimitField = "max_iterations" | "token_budget" | "timeout_seconds";

export const LIMIT_FIELDS: readonly LimitField[] = ["max_iterations", "token_budget", "timeout_seconds"];

export const LIMIT_NAMES: Readonly<Record<LimitField, { name: string; unit: string; one?: string }>> = {
  max_iterations: { name: "Turns", unit: "turns", one: "turn" },
  token_budget: { name: "Tokens", unit: "tokens", one: "token" },
  timeout_seconds: { name: "Time", unit: "s" },
};

export type LimitValues = Readonly<Record<LimitField, number>>;
export type OwnLimits = Readonly<Partial<LimitValues>>;

const NUMBER = new Intl.NumberFormat("en");

/** “50,000 tokens”. */
export function limitText(field: LimitField, value: number): string {
  const { unit } = LIMIT_NAMES[field];
  return `${NUMBER.format(value)}\u00a0${value === 1 ? (LIMIT_NAMES[field].one ?? unit) : unit}`;
}

/** “15 turns, 50,000 tokens, 120 s”. */
export function limitsText(values: OwnLimits): string {
  return LIMIT_FIELDS.flatMap((field) => {
    const value = values[field];
    return value === undefined ? [] : [limitText(field, value)];
  }).join(", ");
}

/** A higher value to suggest for a limit that was reached: twice as much, as far as is allowed. */
export function raised(value: number, greatest: number): number {
  return Math.max(Math.min(value * 2, greatest), Math.min(value, greatest));
}
