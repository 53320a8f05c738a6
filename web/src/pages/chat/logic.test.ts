import { describe, expect, test } from "vitest";
import { sourceNamed } from "@/stream/sourceLinks";
import { callSummary } from "./callSummary";
import { byDay } from "./days";
import { endingOf } from "./endings";
import { exchangesOf } from "./exchanges";
import { limitsText, raised } from "./limits";
import { addTick, elapsedS, NO_PROGRESS, type TickEvent } from "./progress";
import { sourcesText } from "./sources";

describe("callSummary", () => {
  test.each([
    [{ query: "retry policy", limit: 5 }, "retry policy"],
    [{ path: "bt_runtime/run_loop.py", start_line: 1, end_line: 120 }, "bt_runtime/run_loop.py:1–120"],
    [{ path: "a.py", start_line: 7 }, "a.py:7"],
    [{ path: "a.py" }, "a.py"],
    [{ depth: 2 }, "2"],
    [{ query: "two\n lines" }, "two lines"],
    [{}, ""],
  ])("%j reads %j", (args, summary) => {
    expect(callSummary(args)).toBe(summary);
  });
});

test("conversations are grouped by days of the user's own calendar", () => {
  const now = new Date(2026, 0, 31, 9);
  const at = (id: string, ...date: [number, number, number, number]) => ({
    id,
    updated_at: new Date(...date).toISOString(),
  });
  const items = [
    at("a", 2026, 0, 31, 0),
    at("b", 2026, 0, 30, 23),
    at("c", 2026, 0, 30, 0),
    at("d", 2026, 0, 29, 23),
  ];
  expect(byDay(items, now).map(({ name, items: own }) => [name, own.map((item) => item.id)])).toEqual([
    ["Today", ["a"]],
    ["Yesterday", ["b", "c"]],
    ["Older", ["d"]],
  ]);
});

test("an error is named by its kind", () => {
  expect(endingOf("error", "service_stopping").words).toBe("error: service_stopping");
  expect(endingOf("max_iterations", null)).toMatchObject({
    words: "Stopped: iteration limit",
    canGoOn: true,
  });
});

test("messages of a conversation are questions with their answers", () => {
  const at = "2026-01-31T12:00:00Z";
  const head = (n: number, run: string, content: string) => ({ n, content, at, timestamp: at, run_id: run });
  const exchanges = exchangesOf([
    { ...head(1, "r1", "Where?"), role: "user", tool_calls: [], metadata: {} },
    {
      ...head(2, "r1", "Approaching …"),
      role: "system",
      system_type: "limit_warning",
      system_message: "Approaching …",
      severity: "warning",
      metadata: {},
    },
    {
      ...head(3, "r1", "Here."),
      role: "assistant",
      tool_calls: [
        {
          id: "t1",
          name: "read_file",
          arguments: {},
          tool_result: "x",
          is_error: false,
          duration_ms: 4,
          timestamp: at,
        },
      ],
      metadata: {
        run_id: "r1",
        termination_reason: "completed",
        sources: [{ path: "a.py", source_type: "code" }],
      },
    },
    { ...head(4, "r2", "And?"), role: "user", tool_calls: [], metadata: {} },
  ]);
  expect(
    exchanges.map((each) => [each.runId, each.question, each.kept.parts.map((part) => part.kind)]),
  ).toEqual([
    ["r1", "Where?", ["call", "system", "text"]],
    ["r2", "And?", []],
  ]);
  expect(exchanges[0]?.reason).toBe("completed");
});

test("limits in words", () => {
  expect(limitsText({ max_iterations: 15, token_budget: 50_000, timeout_seconds: 120 })).toBe(
    "15\u00a0turns, 50,000\u00a0tokens, 120\u00a0s",
  );
  expect([raised(5, 50), raised(30, 50), raised(50, 50)]).toEqual([10, 50, 50]);
});

describe("progress", () => {
  const tick = (turn: number, atS: number, writes: [string, unknown][], notices: string[] = []) =>
    ({
      type: "tick",
      tick: { turn, at_s: atS, writes },
      notices: notices.map((message) => ({ text: message })),
    }) as unknown as TickEvent; // only what is read

  test("turns and tokens are what the ticks have written", () => {
    let progress = addTick(NO_PROGRESS, tick(1, 0, [["query_type", "code"]]), 1000);
    progress = addTick(
      progress,
      tick(1, 2.5, [
        ["turn", 1],
        ["tokens_used", 3434],
      ]),
      3500,
    );
    progress = addTick(progress, tick(2, 2.6, []), 3600);
    expect(progress).toMatchObject({ turn: 2, turns: 1, tokens: 3434 });
    expect(elapsedS(progress, 4600)).toBeCloseTo(3.6);
  });

  test("the clock stands still while the run is paused", () => {
    let progress = addTick(NO_PROGRESS, tick(1, 2, [], ["Paused by an operator at tick 1."]), 1000);
    expect(elapsedS(progress, 60_000)).toBe(2);
    progress = addTick(progress, tick(1, 2, [], ["Resumed after 41 s."]), 60_000);
    expect(elapsedS(progress, 61_000)).toBe(3);
  });
});

describe("sourceNamed", () => {
  const sources = [
    { path: "oracle/login.py", source_type: "code" as const, line: 12 },
    { path: "oracle/login.py", source_type: "code" as const, line: 80 },
  ];
  test.each([
    ["oracle/login.py:80", 80],
    ["login.py:12", 12],
    ["oracle/login.py:33", 33],
    ["oracle/login.py", 12],
    ["oracle/login.py:12-20", 12],
  ])("%s is a source", (code, line) => {
    expect(sourceNamed(code, sources)).toMatchObject({ path: "oracle/login.py", line });
  });
  test.each(["other.py:80", "x = 1", "gin.py:12", "login"])("%s is none", (code) => {
    expect(sourceNamed(code, sources)).toBeNull();
  });
});

test("the sources that there are tools for are named in order", () => {
  expect(sourcesText(["thread", "code", "vault"])).toBe("the code, the notes and the threads");
});
