import { describe, expect, it } from "vitest";
import { addressOf, countsByOutcome, NONE, queryOf, readFilters, type RunFilters } from "./filters";

const NOW = Date.UTC(2026, 0, 2, 12, 0, 30);

describe("filters in the address", () => {
  const all: RunFilters = {
    search: "run loop & more",
    outcome: "stopped",
    reason: "stuck",
    tree: "desk",
    since: "24h",
    isSlow: true,
    hasErrors: true,
  };
  it("come back as they were", () => {
    expect(readFilters(addressOf(all))).toEqual(all);
    expect(addressOf(NONE)).toBe("");
    expect(readFilters("")).toEqual(NONE);
  });
  it("that mean nothing are left out", () => {
    expect(readFilters("?outcome=x&reason=y&since=z&slow=yes&other=1")).toEqual(NONE);
  });
});

describe("what the service is asked for", () => {
  it("is nothing for all runs", () => {
    expect(queryOf(NONE, NOW)).toEqual({});
    expect(queryOf({ ...NONE, search: "  " }, NOW)).toEqual({});
  });
  it("names the reasons of an outcome; one reason alone is stricter", () => {
    expect(queryOf({ ...NONE, outcome: "failed" }, NOW)).toEqual({ reason: ["error", "error_limit"] });
    expect(queryOf({ ...NONE, outcome: "running" }, NOW)).toEqual({ status: ["running"] });
    expect(queryOf({ ...NONE, outcome: "parked" }, NOW)).toEqual({ status: ["parked"] });
    expect(queryOf({ ...NONE, outcome: "stopped", reason: "stuck" }, NOW)).toEqual({ reason: ["stuck"] });
  });
  it("begins with the whole minute", () => {
    expect(queryOf({ ...NONE, since: "24h" }, NOW)).toEqual({ since: "2026-01-01T12:00:00.000Z" });
    expect(queryOf({ ...NONE, isSlow: true, hasErrors: true, tree: "desk" }, NOW)).toEqual({
      slow: 10,
      errors: true,
      tree: "desk",
    });
  });
});

it("outcomes are counted by their reasons", () => {
  const reasons = { running: 1, parked: 2, completed: 5, stuck: 2, user_cancelled: 1, error: 3 };
  const counts = { all: 14, queued: 0, running: 1, parked: 2, completed: 5, stopped: 3, failed: 3 };
  expect(countsByOutcome(reasons)).toEqual(counts);
});
