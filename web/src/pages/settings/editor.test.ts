import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "@/api/client";
import type { AgentSettings } from "@/api/types";
import { LimitsEditor, PAUSE_MS } from "./editor";
import { NAMES, type LimitValues } from "./fields";

const DEFAULTS: LimitValues = {
  max_iterations: 15,
  soft_warning_percent: 70,
  token_budget: 50_000,
  token_warning_percent: 80,
  timeout_seconds: 120,
  max_tool_calls_per_turn: 5,
  max_parallel_tools: 3,
};

const told = (values: LimitValues): AgentSettings => ({
  ...values,
  effective: values,
  capped: {},
  tree: "oracle",
  fields: Object.fromEntries(
    NAMES.map((name) => [
      name,
      { description: "", default: DEFAULTS[name], minimum: 1, maximum: 200_000, ceiling: null, tree: null },
    ]),
  ),
});

/** Keeps what it is given, as the service does; refuses while it is down. */
function service() {
  let values = DEFAULTS;
  const sent: Partial<LimitValues>[] = [];
  /** `refusal`: the status with which it refuses; 0 while it does not answer. */
  const state: { refusal: number | null; retryAfterS: number | null } = { refusal: null, retryAfterS: null };
  const asked: string[] = [];
  const answered = <Answer>(call: string, answer: () => Answer): Promise<Answer> => {
    asked.push(call);
    if (state.refusal === null) return Promise.resolve(answer());
    return Promise.reject(new ApiError(state.refusal, null, state.retryAfterS));
  };
  return {
    state,
    sent,
    /** All calls, also those that were refused. */
    asked,
    /** Another tab or machine. */
    elsewhere: (changes: Partial<LimitValues>) => {
      values = { ...values, ...changes };
    },
    read: () => answered("read", () => told(values)),
    change: (changes: Partial<LimitValues>) =>
      answered("change", () => {
        sent.push(changes);
        return told((values = { ...values, ...changes }));
      }),
    reset: () => answered("reset", () => told((values = DEFAULTS))),
  };
}

function started() {
  const calls = service();
  const editor = new LimitsEditor(calls);
  editor.setSaved(told(DEFAULTS));
  return { calls, editor };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a change", () => {
  it("is saved once, after the last key", async () => {
    const { calls, editor } = started();
    for (const text of ["1", "10", "100"]) {
      editor.edit("max_iterations", text);
      await vi.advanceTimersByTimeAsync(PAUSE_MS - 1);
    }
    expect(calls.sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(calls.sent).toEqual([{ max_iterations: 100 }]);
    expect(editor.getState().drafts).toEqual({});
    expect(editor.getState().note).toMatchObject({ state: "saved", text: "Turns 15 → 100." });
  });
  it("is saved at once when its gesture ends, and not again after the pause", async () => {
    const { calls, editor } = started();
    editor.edit("max_iterations", "10");
    editor.commit("max_iterations");
    await vi.advanceTimersByTimeAsync(2 * PAUSE_MS);
    expect(calls.sent).toEqual([{ max_iterations: 10 }]);
  });
  it("that changes nothing is not sent", async () => {
    const { calls, editor } = started();
    editor.edit("max_iterations", "15");
    editor.commit("max_iterations");
    await vi.advanceTimersByTimeAsync(PAUSE_MS);
    expect(calls.sent).toEqual([]);
    expect(editor.getState().drafts).toEqual({});
  });
  it("can be taken back once", async () => {
    const { calls, editor } = started();
    editor.choose("token_budget", 9_000);
    await vi.advanceTimersByTimeAsync(0);
    editor.undo();
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.sent).toEqual([{ token_budget: 9_000 }, { token_budget: 50_000 }]);
    expect(editor.getState().before).toBeNull();
  });
  it("that is being saved is not sent again, whoever asks", async () => {
    const { calls, editor } = started();
    editor.edit("max_iterations", "8");
    editor.commit("max_iterations");
    editor.commit("max_iterations");
    editor.commitAll();
    await vi.advanceTimersByTimeAsync(PAUSE_MS);
    expect(calls.sent).toEqual([{ max_iterations: 8 }]);
    expect(editor.getState().note).toMatchObject({ state: "saved", text: "Turns 15 → 8." });
    expect(editor.getState().before).toEqual({ max_iterations: 15 });
  });
  it("that is typed again behind another one is saved", async () => {
    const { calls, editor } = started();
    editor.choose("max_iterations", 3);
    editor.choose("max_iterations", 15);
    editor.edit("max_iterations", "3");
    await vi.advanceTimersByTimeAsync(PAUSE_MS);
    expect(calls.sent).toEqual([{ max_iterations: 3 }, { max_iterations: 15 }, { max_iterations: 3 }]);
    expect(editor.getState().drafts).toEqual({});
  });
  it("behind a reset is saved, even if it is the value before", async () => {
    const { calls, editor } = started();
    editor.choose("max_iterations", 3);
    await vi.advanceTimersByTimeAsync(0);
    editor.resetAll();
    editor.choose("max_iterations", 3);
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.sent).toEqual([{ max_iterations: 3 }, { max_iterations: 3 }]);
    expect(editor.getState().note).toMatchObject({ text: "Turns 15 → 3." });
  });
  it("of two that follow each other, the last one wins", async () => {
    const { calls, editor } = started();
    editor.choose("max_iterations", 3);
    editor.choose("max_iterations", 15);
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.sent.at(-1)).toEqual({ max_iterations: 15 });
    expect(editor.getState().drafts).toEqual({});
  });
});

describe("a wrong value", () => {
  it("is never sent, says why, and stays to be corrected", async () => {
    const { calls, editor } = started();
    editor.edit("max_iterations", "0");
    expect(editor.getState().drafts.max_iterations).toEqual({ text: "0", problem: "" });
    await vi.advanceTimersByTimeAsync(PAUSE_MS);
    expect(calls.sent).toEqual([]);
    expect(editor.getState().drafts.max_iterations).toEqual({
      text: "0",
      problem: "0 is too low. Between 1 and 200,000.",
    });
    editor.commitAll();
    expect(calls.sent).toEqual([]);
    editor.edit("max_iterations", "10");
    expect(editor.getState().drafts.max_iterations?.problem).toBe("");
    await vi.advanceTimersByTimeAsync(PAUSE_MS);
    expect(calls.sent).toEqual([{ max_iterations: 10 }]);
  });
  it("does not keep another field from being saved", async () => {
    const { calls, editor } = started();
    editor.edit("max_iterations", "0");
    editor.edit("timeout_seconds", "60");
    await vi.advanceTimersByTimeAsync(PAUSE_MS);
    expect(calls.sent).toEqual([{ timeout_seconds: 60 }]);
    expect(Object.keys(editor.getState().drafts)).toEqual(["max_iterations"]);
  });
});

describe("a lost network", () => {
  it("keeps what was typed, says that it is not saved, and saves it later", async () => {
    const { calls, editor } = started();
    calls.state.refusal = 0;
    editor.edit("timeout_seconds", "60");
    await vi.advanceTimersByTimeAsync(PAUSE_MS);
    expect(editor.getState().drafts.timeout_seconds?.text).toBe("60");
    expect(editor.getState().note).toMatchObject({ state: "unsaved" });
    calls.state.refusal = null;
    editor.resend();
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.sent).toEqual([{ timeout_seconds: 60 }]);
    expect(editor.getState().drafts).toEqual({});
  });
  it("is waited out without a call", async () => {
    const { calls, editor } = started();
    calls.state.refusal = 0;
    editor.choose("timeout_seconds", 60);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(calls.asked).toEqual(["change"]);
  });
  it("whose end is noticed before the change has failed is over: the change is sent again", async () => {
    const { calls, editor } = started();
    calls.state.refusal = 0;
    editor.choose("timeout_seconds", 60);
    editor.resend();
    await vi.advanceTimersByTimeAsync(0);
    calls.state.refusal = null;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls.sent).toEqual([{ timeout_seconds: 60 }]);
  });
  it("is not spoken of any more when the value is taken back", async () => {
    const { calls, editor } = started();
    calls.state.refusal = 0;
    editor.choose("timeout_seconds", 60);
    await vi.advanceTimersByTimeAsync(0);
    editor.choose("timeout_seconds", 120);
    expect(editor.getState().note).toEqual({ state: "none" });
    expect(editor.getState().drafts).toEqual({});
  });
});

describe("a service that answers, but cannot take a change", () => {
  it("is asked again with growing waits, and takes the change once", async () => {
    const { calls, editor } = started();
    calls.state.refusal = 503;
    editor.choose("timeout_seconds", 60);
    await vi.advanceTimersByTimeAsync(0);
    expect(editor.getState().note).toMatchObject({ state: "unsaved" });
    const counts: number[] = [];
    for (const s of [1, 2, 4, 8, 16, 32, 60, 60]) {
      await vi.advanceTimersByTimeAsync(s * 1000 - 1);
      counts.push(calls.asked.length);
      await vi.advanceTimersByTimeAsync(1);
    }
    expect(counts).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    calls.state.refusal = null;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(calls.sent).toEqual([{ timeout_seconds: 60 }]);
    expect(editor.getState()).toMatchObject({ drafts: {}, note: { state: "saved", text: "Time 120 → 60." } });
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(calls.sent).toHaveLength(1);
  });
  it("says itself when it wants to be asked", async () => {
    const { calls, editor } = started();
    Object.assign(calls.state, { refusal: 503, retryAfterS: 7 });
    editor.choose("timeout_seconds", 60);
    await vi.advanceTimersByTimeAsync(6_999);
    calls.state.refusal = null;
    expect(calls.asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(calls.sent).toEqual([{ timeout_seconds: 60 }]);
  });
  it("and is back, is sent the change once, whoever says so", async () => {
    const { calls, editor } = started();
    calls.state.refusal = 502;
    editor.choose("timeout_seconds", 60);
    await vi.advanceTimersByTimeAsync(0);
    calls.state.refusal = null;
    editor.resend();
    editor.resend();
    editor.commit("timeout_seconds");
    await vi.advanceTimersByTimeAsync(10_000);
    expect(calls.sent).toEqual([{ timeout_seconds: 60 }]);
  });
  it("takes another change: then it takes this one as well", async () => {
    const { calls, editor } = started();
    calls.state.refusal = 502;
    editor.choose("timeout_seconds", 60);
    await vi.advanceTimersByTimeAsync(0);
    calls.state.refusal = null;
    editor.choose("max_iterations", 3);
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.sent).toEqual([{ max_iterations: 3 }, { timeout_seconds: 60 }]);
  });
  it("is not sent what is being typed, and then the newer value alone", async () => {
    const { calls, editor } = started();
    calls.state.refusal = 503;
    editor.choose("timeout_seconds", 60);
    await vi.advanceTimersByTimeAsync(900);
    calls.state.refusal = null;
    editor.edit("timeout_seconds", "9");
    await vi.advanceTimersByTimeAsync(200);
    expect(calls.sent).toEqual([]);
    editor.edit("timeout_seconds", "90");
    await vi.advanceTimersByTimeAsync(10_000);
    expect(calls.sent).toEqual([{ timeout_seconds: 90 }]);
  });
  it("keeps a value that was saved elsewhere meanwhile, which the page says", async () => {
    const { calls, editor } = started();
    calls.state.refusal = 503;
    editor.choose("timeout_seconds", 60);
    await vi.advanceTimersByTimeAsync(0);
    calls.state.refusal = null;
    calls.elsewhere({ timeout_seconds: 300 });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(calls.sent).toEqual([]);
    expect(editor.getState()).toMatchObject({
      drafts: {},
      note: { state: "unsaved", text: "Time: set to 300 elsewhere in the meantime." },
    });
  });
  it("is not asked again for what was discarded, or when the page is left", async () => {
    for (const end of ["discard", "close"] as const) {
      const { calls, editor } = started();
      calls.state.refusal = 503;
      editor.choose("timeout_seconds", 60);
      await vi.advanceTimersByTimeAsync(0);
      editor[end]();
      await vi.advanceTimersByTimeAsync(0);
      const before = calls.asked.length;
      await vi.advanceTimersByTimeAsync(3_600_000);
      expect(calls.asked).toHaveLength(before);
    }
  });
  it("refuses a value for good: that is not sent again", async () => {
    const { calls, editor } = started();
    calls.state.refusal = 422;
    editor.choose("timeout_seconds", 60);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(calls.asked).toEqual(["change"]);
  });
  it("gets what was taken back again, too; a reset is asked for by hand", async () => {
    const { calls, editor } = started();
    editor.choose("timeout_seconds", 60);
    await vi.advanceTimersByTimeAsync(0);
    calls.state.refusal = 503;
    editor.undo();
    await vi.advanceTimersByTimeAsync(0);
    expect(editor.getState().drafts.timeout_seconds?.text).toBe("120");
    calls.state.refusal = null;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls.sent).toEqual([{ timeout_seconds: 60 }, { timeout_seconds: 120 }]);
    calls.state.refusal = 503;
    editor.resetAll();
    await vi.advanceTimersByTimeAsync(0);
    expect(editor.getState().note).toEqual({
      state: "unsaved",
      text: "The service answered with status 503.",
    });
  });
});

describe("all to their defaults", () => {
  it("can be taken back as a whole", async () => {
    const { calls, editor } = started();
    editor.choose("max_iterations", 3);
    await vi.advanceTimersByTimeAsync(0);
    editor.resetAll();
    await vi.advanceTimersByTimeAsync(0);
    editor.undo();
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.sent.at(-1)).toEqual({ ...DEFAULTS, max_iterations: 3 });
  });
});
