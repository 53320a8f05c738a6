import { describe, expect, test } from "vitest";
import { addChunks, blocksOf, NO_ANSWER, openInterrupts, stateOf, textOf } from "./answer";
import type { AnsweredChunk, Chunk, NumberedChunk } from "./chunks";

const DONE: Chunk = {
  type: "done",
  termination_reason: "completed",
  tokens_used: 812,
  tokens_estimated: false,
  model_used: "m",
  context_id: "c",
  run_id: "r",
  turns: 2,
};
const WARNING: Chunk = {
  type: "system",
  system_type: "limit_warning",
  system_message: "Approaching iteration limit (7/10). Consider wrapping up your response.",
  severity: "warning",
  metadata: { current_value: 7, limit_value: 10, percent: 70, limit_type: "iteration" },
  timestamp: "2026-01-31T12:00:00Z",
};

const call = (id: string, name = "search_code"): Chunk => ({
  type: "tool_call",
  tool_call: { id, name, arguments: { query: id } },
});
const result = (id: string, text = "found", isError = false): Chunk => ({
  type: "tool_result",
  tool_call_id: id,
  tool_result: text,
  is_error: isError,
  duration_ms: 12,
});
const content = (text: string): Chunk => ({ type: "content", content: text });
const thinking = (text: string): Chunk => ({ type: "thinking", content: text });
const numbered = (...chunks: Chunk[]): NumberedChunk[] => chunks.map((chunk, at) => ({ id: at + 1, chunk }));

const WHOLE = numbered(
  thinking("Where is "),
  thinking("it?"),
  call("a"),
  call("b"),
  result("b"),
  result("a", "no such file", true),
  content("I looked "),
  content("there."),
  { type: "source", source: { path: "login.py", source_type: "code", line: 3 } },
  WARNING,
  content("It is here."),
  DONE,
);

test("a text that another worker goes on with is one text, in the middle of a word", () => {
  const recovered: Chunk = { ...WARNING, system_type: "recovered", system_message: "It goes on." };
  const { parts } = addChunks(NO_ANSWER, numbered(content("**retr"), recovered, content("ies**"), WARNING));
  expect(parts.map((part) => (part.kind === "text" ? part.text : part.kind))).toEqual([
    "**retries**",
    "system",
    "system",
  ]);
});

const ASKED: AnsweredChunk["interrupt"] = {
  id: "r.1",
  reason: "tool_call",
  message: "May I write this note?",
  may: ["approve", "refuse"],
  response_schema: {},
  on_expiry: "refuse",
  answerers: "user",
  status: "pending",
  tool_name: "vault_write",
  arguments: { path: "plan.md" },
};

describe("what a person is asked", () => {
  const asked: Chunk = { type: "approval_requested", interrupt: ASKED };
  const refused: Chunk = {
    type: "answered",
    interrupt: { ...ASKED, status: "refused", answered_by: "olga" },
    comment: "Not there.",
  };

  test("is open until it is answered, and stands where it was asked", () => {
    const open = addChunks(NO_ANSWER, numbered(content("Let me see."), asked));
    expect(openInterrupts(open).map((part) => part.interrupt.id)).toEqual(["r.1"]);
    const { parts } = addChunks(
      NO_ANSWER,
      numbered(content("Let me see."), asked, content("Well."), refused),
    );
    expect(parts.map((part) => part.kind)).toEqual(["text", "interrupt", "text"]);
    expect(parts[1]).toMatchObject({ interrupt: { status: "refused" }, answered: { comment: "Not there." } });
    expect(blocksOf(parts).map((block) => block.kind)).toEqual(["text", "interrupt", "text"]);
  });

  test("is open no more when the answer has ended", () => {
    expect(openInterrupts(addChunks(NO_ANSWER, numbered(asked, DONE)))).toEqual([]);
  });

  test("is shown as answered where nobody had to be asked", () => {
    const { parts } = addChunks(NO_ANSWER, numbered(refused));
    expect(parts).toMatchObject([{ kind: "interrupt", interrupt: { status: "refused" } }]);
  });
});

describe("addChunks", () => {
  test("keeps the parts in the order in which they came", () => {
    const { parts } = addChunks(NO_ANSWER, WHOLE);
    expect(parts.map((part) => part.kind)).toEqual(["thinking", "call", "call", "text", "system", "text"]);
  });

  test("gives the same answer however the chunks come in frames", () => {
    const atOnce = addChunks(NO_ANSWER, WHOLE);
    for (let size = 1; size < WHOLE.length; size += 1) {
      let answer = NO_ANSWER;
      for (let at = 0; at < WHOLE.length; at += size) answer = addChunks(answer, WHOLE.slice(at, at + size));
      expect(answer).toEqual(atOnce);
    }
  });

  test("drops chunks that it already has", () => {
    const answer = addChunks(addChunks(NO_ANSWER, WHOLE.slice(0, 8)), WHOLE.slice(5));
    expect(textOf(answer)).toBe("I looked there.It is here.");
    expect(answer.sources).toHaveLength(1);
  });

  test("puts results to their calls, also where they come in another order", () => {
    const calls = addChunks(NO_ANSWER, WHOLE).parts.filter((part) => part.kind === "call");
    expect(calls.map((each) => [each.callId, stateOf(each)])).toEqual([
      ["a", "error"],
      ["b", "done"],
    ]);
  });

  test("keeps parts that got nothing", () => {
    const before = addChunks(NO_ANSWER, WHOLE.slice(0, 8));
    const after = addChunks(before, WHOLE.slice(8));
    expect(after.parts.slice(0, 4)).toEqual(before.parts);
    expect(after.parts[3]).toBe(before.parts[3]);
  });

  test("ends with the last chunk", () => {
    expect(addChunks(NO_ANSWER, WHOLE.slice(0, -1)).done).toBeNull();
    expect(addChunks(NO_ANSWER, WHOLE).done?.turns).toBe(2);
  });
});

describe("stateOf", () => {
  test.each([
    ["a call without a result", [], "running"],
    ["a call with a result", [result("a")], "done"],
    ["a call that failed", [result("a", "no such file", true)], "error"],
    ["a call that was refused", [result("a", "Not run: work on this question has ended.", true)], "not-run"],
  ])("%s", (_, results, state) => {
    const [part] = addChunks(NO_ANSWER, numbered(call("a"), ...results)).parts;
    expect(part?.kind === "call" && stateOf(part)).toBe(state);
  });
});

describe("blocksOf", () => {
  test("a thought and the calls after it are one card; the next thought begins another", () => {
    const { parts } = addChunks(
      NO_ANSWER,
      numbered(
        call("a"),
        call("b"),
        thinking("Hm."),
        call("c"),
        thinking("So."),
        content("Here."),
        call("d"),
      ),
    );
    const blocks = blocksOf(parts).map((block) =>
      block.kind === "work"
        ? [block.thought?.text ?? "", ...block.calls.map((each) => each.callId)]
        : block.kind,
    );
    expect(blocks).toEqual([["", "a", "b"], ["Hm.", "c"], ["So."], "text", ["", "d"]]);
  });

  test("blank text is no block", () => {
    expect(blocksOf(addChunks(NO_ANSWER, numbered(content("\n\n"))).parts)).toEqual([]);
  });
});
