import { describe, expect, test } from "vitest";
import {
  answerBy,
  argumentsOf,
  callState,
  debugSentence,
  seamSentence,
  withStreamed,
  type Streamed,
  type Item,
} from "./answer";
import { boardAt, isEmpty, pastValues } from "./board";
import type { CallFacts, DecisionFacts, InterruptFacts, KeyFacts, TextFacts } from "./facts";
import { hasSamePrompt, newMessages, turnShownAt } from "./messages";
import { RunModel } from "./model";
import { samplePage, sampleTick, sampleTurn } from "./sample";

const key = (name: string, value: unknown): KeyFacts => ({
  name,
  type: "int",
  description: `About ${name}.`,
  read_only: false,
  value,
});
const text = (type: string, tick: number, at_s: number, said: string): TextFacts => ({
  type,
  tick,
  turn: 1,
  at_s,
  text: said,
});
const call = (id: string, began_tick: number, more: Partial<CallFacts> = {}): CallFacts => ({
  id,
  name: "search_code",
  turn: 1,
  began_tick,
  ended_tick: began_tick + 1,
  began_s: began_tick,
  ended_s: began_tick + 0.5,
  ...more,
});

describe("what a person was asked, and where another worker went on", () => {
  const interrupt: InterruptFacts["interrupt"] = {
    id: "r.1",
    reason: "tool_call",
    message: "May I?",
    may: ["approve", "refuse"],
    response_schema: {},
    on_expiry: "refuse",
    answerers: "user",
    status: "pending",
  };
  const asked: InterruptFacts = { tick: 2, turn: 1, at_s: 2, interrupt };
  const made: DecisionFacts = { tick: 3, at_s: 9, interrupt: { ...interrupt, status: "refused" } };
  const ticks = [1, 2, 3].map((tick) => sampleTick({ tick }));
  const seams = [{ tick: 3, at_s: 2.5, attempt: 1, pause_s: 2.1, counted_s: 2.1 }];

  test("stand where they were; what was answered is not open again at an earlier tick", () => {
    const model = new RunModel(samplePage({ ticks, seams, interrupts: [asked], decisions: [made] }));
    expect(answerBy(model, 1)).toMatchObject([{ kind: "interrupt", interrupt: { status: "refused" } }]);
    expect(answerBy(model, 2).map((item) => item.kind)).toEqual(["interrupt", "seam"]);
    expect(model.waiting).toEqual([]);
  });

  test("what nobody has answered is waited for while the run is under way", () => {
    const page = samplePage({ ticks, interrupts: [asked] });
    expect(new RunModel({ ...page, run: { ...page.run, status: "parked" } }).waiting).toEqual([asked]);
    expect(new RunModel(page).waiting).toEqual([]);
  });

  test("a call that nobody had to be asked about is shown", () => {
    expect(answerBy(new RunModel(samplePage({ ticks, decisions: [made] })), 2)).toHaveLength(1);
  });

  test("a seam says what was under way", () => {
    const [seam] = seams;
    if (seam === undefined) throw new Error("no seam");
    expect(seamSentence({ ...seam, is_woken: true })).toBe("Woken after 2.10 s.");
    const under_way = [
      { what: "turn", name: "loop/llm_turn", how: "continued" },
      { what: "tool", name: "vault_write", how: "unknown" },
    ];
    expect(seamSentence({ ...seam, attempt: 2, under_way })).toBe(
      "Another worker continued after 2.10 s, attempt 2. The turn under way went on after what was said. vault_write may have been carried out.",
    );
  });
});

describe("the blackboard at a tick", () => {
  const model = new RunModel(
    samplePage({
      keys: [key("turn", 0), key("hint", ""), key("limit", 10), key("done", false)],
      ticks: [
        sampleTick({ tick: 1, writes: [["turn", 1]] }),
        sampleTick({
          tick: 2,
          writes: [
            ["limit", 10],
            ["hint", "look"],
            ["turn", 2],
          ],
        }),
        sampleTick({ tick: 3, writes: [["turn", 2]] }),
      ],
    }),
  );

  test("changed keys come in the order in which they were written; a write of the same value is no change", () => {
    const { changed } = boardAt(model, 1);
    expect(changed.map(({ key: name, before, value }) => [name, before, value])).toEqual([
      ["hint", "", "look"],
      ["turn", 1, 2],
    ]);
    expect(boardAt(model, 2).changed).toEqual([]);
  });

  test("keys without a value are counted apart; false and 0 are values", () => {
    const board = boardAt(model, 0);
    expect(board.others.map((row) => row.key)).toEqual(["done", "limit"]);
    expect(board.empty.map((row) => row.key)).toEqual(["hint"]);
    expect([0, false, null, "", [], {}].map(isEmpty)).toEqual([false, false, true, true, true, true]);
  });

  test("the history of a key has each value once", () => {
    expect(pastValues(model, "turn", 2)).toEqual([
      { at: -1, value: 0 },
      { at: 0, value: 1 },
      { at: 1, value: 2 },
    ]);
    expect(pastValues(model, "turn", 0)).toHaveLength(2);
  });
});

describe("what the user had read by a tick", () => {
  const model = new RunModel(
    samplePage({
      ticks: [1, 2, 3].map((tick) => sampleTick({ tick })),
      texts: [
        text("content", 2, 1.5, "I will look."),
        text("source", 3, 2.9, "a.py"),
        text("source", 3, 2.95, "b.py"),
        text("content", 4, 5, "After the last tick."),
      ],
      calls: [call("one", 2), call("two", 2)],
    }),
  );

  test("later pieces are not shown yet; calls and sources that follow each other are one item", () => {
    expect(answerBy(model, 0)).toEqual([]);
    expect(answerBy(model, 1).map((item) => item.kind)).toEqual(["text", "calls"]);
    const [, calls] = answerBy(model, 1);
    expect(calls?.kind === "calls" && calls.calls.map((each) => each.id)).toEqual(["one", "two"]);
  });

  test("the last tick shows all that was said, also what came after it", () => {
    expect(answerBy(model, 2).map((item) => item.kind)).toEqual(["text", "calls", "sources", "text"]);
  });

  test("a call is running until the tick that got its result", () => {
    expect(callState(call("a", 2), 2)).toBe("running");
    expect(callState(call("a", 2), 3)).toBe("done");
    expect(callState(call("a", 2, { is_error: true }), 3)).toBe("error");
    expect(callState(call("a", 2, { ran: false }), 3)).toBe("not run");
  });

  test("arguments stand on one line, whatever the model has written", () => {
    expect(argumentsOf(call("a", 1, { arguments: { query: "auth", limit: 5 } }))).toBe("auth 5");
    expect(argumentsOf(call("a", 1, { arguments: "{broken" }))).toBe("{broken");
    expect(argumentsOf(call("a", 1, { arguments: null }))).toBe("");
  });

  test("what an operator did is a sentence", () => {
    const done = { tick: 2, at_s: 1, what: "set", by: "olga", key: "hint", value: "x" } as const;
    expect(debugSentence(done)).toBe('hint was set to "x" by olga.');
  });
});

describe("what streams of a run under way", () => {
  const said = (text: string): Streamed => ({ kind: "text", text });
  const thought = (text: string): Streamed => ({ kind: "thinking", text });
  const called = (callId: string): Streamed => ({
    kind: "call",
    callId,
    name: "search_code",
    arguments: { query: "auth" },
  });
  /** The items at the last tick, with what has streamed; as key and text, or by their kind. */
  function shown(texts: TextFacts[], streamed: Streamed[], calls: CallFacts[] = []): string[] {
    const ticks = [1, 2, 3].map((tick) => sampleTick({ tick }));
    const model = new RunModel(
      samplePage({ run: { status: "running", finished_at: null }, ticks, texts, calls }),
    );
    return withStreamed(answerBy(model, 2), model, streamed).map((item: Item) => {
      if (item.kind === "text") return `${item.id}: ${item.text}`;
      return item.kind === "calls"
        ? `${item.id}: ${item.calls.map((each) => callState(each, 3)).join(" ")}`
        : item.kind;
    });
  }

  test("words that no tick has recorded follow what is recorded", () => {
    const streamed = [thought("Hm."), said("I will look."), called("one"), said("\n\nIt is in")];
    expect(shown([], streamed.slice(0, 2))).toEqual(["thinking-1: Hm.", "content-1: I will look."]);
    const texts = [text("thinking", 2, 1, "Hm."), text("content", 2, 1.1, "I will look.")];
    expect(shown(texts, streamed, [call("one", 2)])).toEqual([
      "thinking-1: Hm.",
      "content-1: I will look.",
      "calls-1: done",
      "content-2: \n\nIt is in",
    ]);
  });

  test("when the tick comes nothing changes, and nothing is there twice", () => {
    const streamed = [said("I will look."), called("one"), said("\n\nIt is in a.py.")];
    const before = [text("content", 2, 1, "I will look.")];
    const after = [...before, text("content", 3, 3, "\n\nIt is in a.py.")];
    const calls = [call("one", 2)];
    expect(shown(after, streamed, calls)).toEqual(shown(before, streamed, calls));
    expect(shown(after, [], calls)).toEqual(shown(before, streamed, calls));
  });

  test("a tick within a turn does not part its words", () => {
    const streamed = [said("It is in a.py, as I said.")];
    const whole = ["content-1: It is in a.py, as I said."];
    expect(shown([], streamed)).toEqual(whole);
    expect(shown([text("content", 2, 1, "It is in ")], streamed)).toEqual(whole);
    expect(shown([text("content", 2, 1, "It is in "), text("content", 3, 2, "a.py, ")], streamed)).toEqual(
      whole,
    );
  });

  test("what has come before its tick is not there twice, whatever is behind", () => {
    const texts = [text("content", 2, 1, "It is in a.py."), text("content", 4, 2, "\n\nAnd in b")];
    expect(shown(texts, [said("It is in ")])).toEqual(["content-1: It is in a.py.\n\nAnd in b"]);
    expect(shown(texts, [said("It is in a.py.\n\nAnd in b.py.")])).toEqual([
      "content-1: It is in a.py.\n\nAnd in b.py.",
    ]);
  });

  test("a call is running until the tick that has its result; one of the same name is another call", () => {
    const streamed = [said("I will look."), called("one"), called("two")];
    const texts = [text("content", 2, 1, "I will look.")];
    const running = ["content-1: I will look.", "calls-1: running running"];
    expect(shown([], streamed)).toEqual(running);
    expect(shown(texts, streamed)).toEqual(running);
    expect(shown(texts, streamed, [call("one", 2), call("two", 2)])).toEqual([
      running[0],
      "calls-1: done done",
    ]);
    expect(
      shown(texts, [...streamed, said("\n\nAgain."), called("one")], [call("one", 2), call("two", 2)]),
    ).toEqual([running[0], "calls-1: done done", "content-2: \n\nAgain.", "calls-2: running"]);
  });

  test("what stands behind a call whose tick is missing stays behind it", () => {
    const streamed = [said("I will look."), called("one"), said("\n\nIt is in")];
    const all = ["content-1: I will look.", "calls-1: running", "content-2: \n\nIt is in"];
    expect(shown([], streamed)).toEqual(all);
    expect(shown([text("content", 2, 1, "I will look.")], streamed)).toEqual(all);
  });

  test("blank texts are no paragraphs, and errors stand alone", () => {
    expect(shown([text("content", 2, 1, "\n\n")], [said("\n\n"), called("one"), said(" ")])).toEqual([
      "calls-1: running",
    ]);
    expect(shown([text("error", 2, 1, "One."), text("error", 2, 2, "Two.")], [])).toEqual([
      "error-1: One.",
      "error-2: Two.",
    ]);
  });
});

describe("the messages of a turn", () => {
  const request = { prompt_sha: "a", messages: [] };
  const turns = [
    sampleTurn({ n: 1, began_tick: 1, request }),
    sampleTurn({
      n: 2,
      began_tick: 3,
      request: {
        prompt_sha: "a",
        messages: [
          { role: "assistant", content: [{ type: "tool_use", name: "read_file", input: { path: "a.py" } }] },
          { role: "user", content: [{ type: "tool_result", content: "1 | code" }, "loose"] },
        ],
      },
    }),
  ];
  const model = new RunModel(samplePage({ ticks: [1, 2, 3].map((tick) => sampleTick({ tick })), turns }));

  test("a tick shows the last turn that had begun", () => {
    expect([0, 1, 2].map((at) => turnShownAt(model, at)?.n)).toEqual([1, 1, 2]);
    expect(turnShownAt(model, -1)).toBeUndefined();
  });

  test("blocks of content are shown as the provider gets them", () => {
    expect(turns[1] && newMessages(turns[1])).toEqual([
      { role: "assistant", text: 'read_file({"path":"a.py"})' },
      { role: "user", text: "→ 1 | code\nloose" },
    ]);
  });

  test("the same system prompt is recognised by its digest", () => {
    expect(turns[1] && hasSamePrompt(turns[1], turns[0])).toBe(true);
    expect(turns[0] && hasSamePrompt(turns[0], undefined)).toBe(false);
  });
});
