/** Sums of what was used, and what they have cost in words. */
import type { Schemas } from "@/api/types";

export type Report = Schemas["UsageReport"];
export type Figures = Schemas["UsageTotals"];
export type By = "day" | "user_id" | "model";

const NOTHING = {
  runs: 0,
  turns: 0,
  tokens_used: 0,
  input_tokens: 0,
  cache_creation_tokens: 0,
  cache_read_tokens: 0,
  output_tokens: 0,
  auxiliary_requests: 0,
};
const SUMMED = Object.keys(NOTHING) as (keyof typeof NOTHING)[];

/** The sums by day, newest first, or by user or model, the greatest first. */
export function sumsBy(by: By, rows: Report["rows"]): (readonly [name: string, sum: Figures])[] {
  const sums = new Map<string, Figures>();
  for (const row of rows) {
    const sum = sums.get(row[by]) ?? {
      ...NOTHING,
      cache_misses: {},
      is_estimated: false,
      cost: 0,
      known_cost: 0,
    };
    for (const name of SUMMED) sum[name] += row[name];
    for (const [reason, runs] of Object.entries(row.cache_misses))
      sum.cache_misses[reason] = (sum.cache_misses[reason] ?? 0) + runs;
    sum.is_estimated ||= row.is_estimated;
    sum.known_cost += row.cost ?? 0;
    sum.cost = sum.cost === null || row.cost === null ? null : sum.known_cost;
    sums.set(row[by], sum);
  }
  const all = [...sums];
  return by === "day" ? all : all.sort(([, a], [, b]) => b.tokens_used - a.tokens_used);
}

/** The input of these tokens, for its share from the cache. */
export const inputOf = (sum: Figures) => ({
  whole: sum.input_tokens + sum.cache_creation_tokens + sum.cache_read_tokens,
  read: sum.cache_read_tokens,
});

const FEW = 0.1;

/** Two digits behind the point, or as many as it takes to see what is less. */
export function costWords(
  { cost, known_cost }: Pick<Figures, "cost" | "known_cost">,
  currency: string,
): string {
  const digits = known_cost > 0 && known_cost < FEW ? { maximumSignificantDigits: 2 } : {};
  const words = new Intl.NumberFormat("en", { style: "currency", currency, ...digits }).format(known_cost);
  return cost !== null ? words : known_cost > 0 ? `≥ ${words}` : "not known";
}
