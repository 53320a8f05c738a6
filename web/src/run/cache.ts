/** What the provider's cache had of the model's input, in words. */
import type { Schemas } from "@/api/types";
import { number } from "@/parts/format";

type CacheMiss = Exclude<NonNullable<Schemas["TurnFacts"]["cache_miss"]>, "">;

interface Input {
  /** The whole input, in tokens. */
  whole: number;
  read: number;
}

/** Why the cache was missed. */
const MISSES: Readonly<Record<CacheMiss, string>> = {
  model_changed: "another model was asked",
  system_changed: "the prompt changed",
  tools_changed: "the tools changed",
  messages_changed: "earlier messages changed",
  previous_message_not_found: "the provider no longer knows the request before",
  unavailable: "another setting changed, or the provider cannot say",
};

export const missWords = (reason: CacheMiss): string => MISSES[reason];

/** The part of the input that was read from the cache: `96 %`; empty where nothing was asked. */
export const cachedShare = ({ whole, read }: Input): string =>
  whole > 0 ? `${Math.floor((100 * read) / whole)} %` : "";

type Turn = Partial<
  Pick<Schemas["TurnFacts"], "input_tokens" | "cache_creation_tokens" | "cache_read_tokens" | "cache_miss">
>;

/** `8,900 cached · 300 written · 120 fresh`, and why it was missed; empty where nothing is known of the cache. */
export function cacheUse(turn: Turn): { used: string; missed: string } {
  const { input_tokens = 0, cache_creation_tokens: written = 0, cache_read_tokens: read = 0 } = turn;
  const fresh = Math.max(0, input_tokens - written - read);
  return {
    used:
      read || written ? `${number(read)} cached · ${number(written)} written · ${number(fresh)} fresh` : "",
    missed: turn.cache_miss ? missWords(turn.cache_miss) : "",
  };
}

/** The input of all turns that have ended; nothing was read where no provider has a cache. */
export function inputOf(turns: readonly Turn[]): Input {
  const sum = (name: "input_tokens" | "cache_read_tokens") =>
    turns.reduce((all, turn) => all + (turn[name] ?? 0), 0);
  return { whole: sum("input_tokens"), read: sum("cache_read_tokens") };
}

/** The commonest reason of some runs, in words; empty if the provider gave none. */
export function commonestMiss(misses: Readonly<Record<string, number>>): string {
  const [first] = Object.entries(misses).sort(([, a], [, b]) => b - a);
  return first ? missWords(first[0] as CacheMiss) : "";
}
