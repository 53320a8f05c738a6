/** Which runs the list has. The filters are in the address, so that a list can be shared and comes back with "Back". */
import type { paths } from "@/api/schema";

export type RunQuery = NonNullable<paths["/api/runs"]["get"]["parameters"]["query"]>;
export type Reason = NonNullable<RunQuery["reason"]>[number];
export type UnderWay = "queued" | "running" | "parked";
export type OutcomeName = "all" | UnderWay | "completed" | "stopped" | "failed";
export type Since = "" | "1h" | "24h" | "7d";

export interface RunFilters {
  readonly search: string;
  readonly outcome: OutcomeName;
  /** One reason alone; it is stricter than `outcome`. */
  readonly reason: Reason | "";
  readonly tree: string;
  readonly since: Since;
  readonly isSlow: boolean;
  readonly hasErrors: boolean;
}

export const NONE: RunFilters = {
  search: "",
  outcome: "all",
  reason: "",
  tree: "",
  since: "",
  isSlow: false,
  hasErrors: false,
};

/** From so many seconds on a run is slow. */
export const SLOW_S = 10;

/** The reasons of an outcome; together they are all there are. */
export const REASONS: Readonly<Record<"completed" | "stopped" | "failed", readonly Reason[]>> = {
  completed: ["completed"],
  stopped: ["max_iterations", "token_budget", "timeout", "no_progress", "stuck", "user_cancelled"],
  failed: ["error", "error_limit"],
};

export const SINCE: Readonly<Record<Since, { words: string; hours: number }>> = {
  "": { words: "any time", hours: 0 },
  "1h": { words: "the last hour", hours: 1 },
  "24h": { words: "the last 24 hours", hours: 24 },
  "7d": { words: "the last 7 days", hours: 7 * 24 },
};

/** How runs stand that have not ended. */
export const UNDER_WAY: readonly UnderWay[] = ["queued", "running", "parked"];

const OUTCOMES: readonly string[] = ["all", ...UNDER_WAY, ...Object.keys(REASONS)];
const ALL_REASONS: readonly string[] = Object.values(REASONS).flat();

/** The filters of an address; what it cannot mean is left out. */
export function readFilters(search: string): RunFilters {
  const given = new URLSearchParams(search);
  const one = <Value extends string>(name: string, known: readonly string[], otherwise: Value): Value => {
    const value = given.get(name) ?? "";
    return known.includes(value) ? (value as Value) : otherwise;
  };
  return {
    search: (given.get("q") ?? "").slice(0, 200),
    outcome: one("outcome", OUTCOMES, NONE.outcome),
    reason: one("reason", ALL_REASONS, NONE.reason),
    tree: (given.get("tree") ?? "").slice(0, 255),
    since: one("since", Object.keys(SINCE), NONE.since),
    isSlow: given.get("slow") === "1",
    hasErrors: given.get("errors") === "1",
  };
}

/** The address of filters, without those that let everything through. */
export function addressOf(filters: RunFilters): string {
  const { search, outcome, reason, tree, since, isSlow, hasErrors } = filters;
  const named = {
    q: search,
    outcome: outcome === "all" ? "" : outcome,
    reason,
    tree,
    since,
    slow: isSlow ? "1" : "",
    errors: hasErrors ? "1" : "",
  };
  const text = new URLSearchParams(Object.entries(named).filter(([, value]) => value !== "")).toString();
  return text && `?${text}`;
}

/** What the service is asked for. The beginning of a span of time is of the whole minute, so that the query stays the same. */
export function queryOf(filters: RunFilters, now: number): RunQuery {
  const { search, outcome, reason, tree, since, isSlow, hasErrors } = filters;
  const query: RunQuery = {};
  if (search.trim()) query.search = search.trim();
  if (reason) query.reason = [reason];
  else if (isUnderWay(outcome)) query.status = [outcome];
  else if (outcome !== "all") query.reason = [...REASONS[outcome]];
  if (tree) query.tree = tree;
  if (since)
    query.since = new Date(Math.floor(now / 60_000) * 60_000 - SINCE[since].hours * 3_600_000).toISOString();
  if (isSlow) query.slow = SLOW_S;
  if (hasErrors) query.errors = true;
  return query;
}

const isUnderWay = (outcome: OutcomeName): outcome is UnderWay =>
  UNDER_WAY.some((standing) => standing === outcome);

export type OutcomeCounts = Readonly<Record<OutcomeName, number>>;

/** How many runs each outcome has. */
export function countsByOutcome(byReason: Readonly<Record<string, number>>): OutcomeCounts {
  const sum = (reasons: readonly string[]) =>
    reasons.reduce((total, reason) => total + (byReason[reason] ?? 0), 0);
  return {
    all: sum(Object.keys(byReason)),
    queued: byReason.queued ?? 0,
    running: byReason.running ?? 0,
    parked: byReason.parked ?? 0,
    completed: sum(REASONS.completed),
    stopped: sum(REASONS.stopped),
    failed: sum(REASONS.failed),
  };
}

export const isNarrowed = (filters: RunFilters): boolean => addressOf(filters) !== "";
