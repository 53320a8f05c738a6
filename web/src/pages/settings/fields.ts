/** The seven limits: their words, their steps, and what a person may enter. */
import type { Schemas } from "@/api/types";
import { number } from "@/parts/format";

export type LimitValues = Schemas["ConfigValues"];
export type LimitName = keyof LimitValues;
export type Bounds = Schemas["SettingBody"];

export interface LimitWords {
  label: string;
  text: string;
  /** Behind the number in its box. */
  unit?: "%" | "s";
  /** Of what it is the most: "30 turns". */
  counted: string;
  /** One arrow key. */
  step: number;
  /** Page up and page down. */
  page: number;
}

export const WORDS: Readonly<Record<LimitName, LimitWords>> = {
  max_iterations: {
    label: "Turns",
    text: "The most turns for one question.",
    counted: "turns",
    step: 1,
    page: 5,
  },
  soft_warning_percent: {
    label: "Warn at",
    text: "Share of the turns after which you and the model are warned.",
    unit: "%",
    counted: "percent",
    step: 1,
    page: 10,
  },
  token_budget: {
    label: "Tokens",
    text: "The most tokens for one question: input, cache creation and output.",
    counted: "tokens",
    step: 1_000,
    page: 10_000,
  },
  token_warning_percent: {
    label: "Warn at",
    text: "Share of the tokens after which you and the model are warned.",
    unit: "%",
    counted: "percent",
    step: 1,
    page: 10,
  },
  timeout_seconds: {
    label: "Time",
    text: "The time limit for the whole question.",
    unit: "s",
    counted: "seconds",
    step: 5,
    page: 60,
  },
  max_tool_calls_per_turn: {
    label: "Tool calls per turn",
    text: "Further calls are not run. The model gets an error.",
    counted: "calls a turn",
    step: 1,
    page: 5,
  },
  max_parallel_tools: {
    label: "Parallel tool calls",
    text: "How many calls of a turn run at the same time.",
    counted: "calls at a time",
    step: 1,
    page: 2,
  },
};

/** How the fields stand together on the page. */
export const GROUPS: readonly (readonly LimitName[])[] = [
  ["max_iterations", "soft_warning_percent"],
  ["token_budget", "token_warning_percent"],
  ["timeout_seconds"],
  ["max_tool_calls_per_turn", "max_parallel_tools"],
];

export const NAMES: readonly LimitName[] = GROUPS.flat();

export type Entry = { value: number; problem: null } | { value: null; problem: string };

/** What was typed, as a value; or why it is none. Commas and spaces between digits are read over. */
export function readEntry(text: string, { minimum, maximum }: Bounds): Entry {
  const between = `Between ${number(minimum)} and ${number(maximum)}.`;
  const typed = text.trim();
  const wrong = (what: string): Entry => ({ value: null, problem: `${what} ${between}` });
  if (typed === "") return wrong("A number is missing.");
  const value = Number(typed.replaceAll(/(?<=\d)[,\s’'](?=\d)/g, ""));
  if (!Number.isFinite(value)) return wrong(`“${typed.slice(0, 20)}” is not a number.`);
  if (!Number.isInteger(value)) return wrong(`${typed.slice(0, 20)} is not a whole number.`);
  if (value < minimum) return wrong(`${number(value)} is too low.`);
  if (value > maximum) return wrong(`${number(value)} is too high.`);
  return { value, problem: null };
}

/** The nearest value on the steps of the slider; its ends are always among them. */
export function onStep(value: number, { minimum, maximum }: Bounds, step: number): number {
  const clamped = Math.min(maximum, Math.max(minimum, value));
  const snapped = Math.round(clamped / step) * step;
  if (clamped - minimum < step / 2) return minimum;
  if (maximum - clamped < step / 2) return maximum;
  return Math.min(maximum, Math.max(minimum, snapped));
}

/** The value that a key of a slider leads to; `null` if it is another key. */
export function afterKey(key: string, value: number, bounds: Bounds, words: LimitWords): number | null {
  const { minimum, maximum } = bounds;
  const move = (by: number) => Math.min(maximum, Math.max(minimum, value + by));
  switch (key) {
    case "ArrowRight":
    case "ArrowUp":
      return move(words.step);
    case "ArrowLeft":
    case "ArrowDown":
      return move(-words.step);
    case "PageUp":
      return move(words.page);
    case "PageDown":
      return move(-words.page);
    case "Home":
      return minimum;
    case "End":
      return maximum;
    default:
      return null;
  }
}

export interface Cap {
  limit: number;
  by: "operator" | "tree";
}

/** What keeps a field below the end of its slider, whatever is chosen; `null` if nothing does. */
export function capOf({ maximum, ceiling, tree }: Bounds): Cap | null {
  const caps: Cap[] = [];
  if (ceiling !== null) caps.push({ limit: ceiling, by: "operator" });
  if (tree !== null) caps.push({ limit: tree, by: "tree" });
  const strictest = caps.sort((one, other) => one.limit - other.limit)[0];
  return strictest && strictest.limit < maximum ? strictest : null;
}

/** Why less than the value counts; empty if it counts whole. */
export function capText(name: LimitName, value: number, cap: Cap | null, tree: string): string {
  if (cap === null || value <= cap.limit) return "";
  const most = number(cap.limit);
  const what = `${most} ${WORDS[name].counted}`;
  return cap.by === "tree"
    ? `The tree ${tree} allows ${what} (max_turns), so the limit is ${most}.`
    : `Your operator allows ${what}, so the limit is ${most}.`;
}

/** The turn, or the tokens, from which a query is warned. */
export const warnsAt = (limit: number, percent: number): number => Math.ceil((limit * percent) / 100);
