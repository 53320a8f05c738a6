/** The figures of shadow runs in words. */
import type { components } from "@/api/schema";
import { compact, number, plural } from "@/parts/format";

type Schemas = components["schemas"];
type Measure = Schemas["Measure"];
type Interval = Schemas["Interval"];

const MEASURES: Record<Measure["name"], string> = {
  tool_calls: "Tool calls",
  turns: "Turns",
  tokens: "Tokens",
  model_seconds: "Seconds in the model",
};
export const measureName = (name: Measure["name"]): string => MEASURES[name];

const SHARES: Record<Schemas["Agreement"]["name"], string> = {
  agreement: "same end and similar answer",
  same_end: "same end",
  similar_answer: "similar answer",
  same_decisions: "same decisions",
  same_tools: "same tools first",
};
export const shareName = (name: Schemas["Agreement"]["name"]): string => SHARES[name];

export const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;

const amount = (value: number): string =>
  Math.abs(value) >= 100 ? compact(Math.round(value)) : value.toFixed(1);
export const mean = amount;

/** +1.2, −340: with a sign, as a difference. */
export const signed = (value: number): string =>
  value === 0 ? "0" : `${value < 0 ? "−" : "+"}${amount(Math.abs(value))}`;

/** −1.2 to +0.4; of too few pairs there is none. */
export const range = ({ low, high }: Interval): string =>
  low === null || high === null ? "too few pairs" : `${signed(low)} to ${signed(high)}`;

/** What an interval says: that the shadow's control needs less, or more, or that this is not decided. */
export function verdictOf({ low, high }: Interval): "less" | "more" | "open" {
  if (low === null || high === null) return "open";
  if (high < 0) return "less";
  return low > 0 ? "more" : "open";
}

/** 120 pairs, 2 running, 1 dropped (the queue was full). */
export function countsOf(report: Schemas["ShadowReport"]): string {
  const dropped = Object.entries(report.dropped).map(([why, count]) => `${number(count)} dropped (${why})`);
  return [
    `${report.is_complete ? "" : "The newest "}${plural(report.pairs, "pair")}`,
    ...(report.running ? [`${number(report.running)} running`] : []),
    ...dropped,
  ].join(" · ");
}
