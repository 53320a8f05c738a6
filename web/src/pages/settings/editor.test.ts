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
  const state = { down: false };
  return {
    state,
    sent,
    change: (changes: Partial<LimitValues>) => {
      if (state.down) return Promise.reject(new ApiError(0, null));
      sent.push(changes);
      values = { ...values, ...changes };
      return Promise.resolve(told(values));
    },
    reset: () => Promise.resolve(told((values = DEFAULTS))),
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
    calls.state.down = true;
    editor.edit("timeout_seconds", "60");
    await vi.advanceTimersByTimeAsync(PAUSE_MS);
    expect(editor.getState().drafts.timeout_seconds?.text).toBe("60");
    expect(editor.getState().note).toMatchObject({ state: "unsaved" });
    calls.state.down = false;
    editor.commitAll();
    await vi.advanceTimersByTimeAsync(0);
    expect(calls.sent).toEqual([{ timeout_seconds: 60 }]);
    expect(editor.getState().drafts).toEqual({});
  });
  it("is not spoken of any more when the value is taken back", async () => {
    const { calls, editor } = started();
    calls.state.down = true;
    editor.choose("timeout_seconds", 60);
    await vi.advanceTimersByTimeAsync(0);
    editor.choose("timeout_seconds", 120);
    expect(editor.getState().note).toEqual({ state: "none" });
    expect(editor.getState().drafts).toEqual({});
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
