import { expect, test } from "vitest";
import { breachOf, deedOf, isRefusal, readBefore, refusedAt } from "./breaches";
import type { BreachFacts, CallFacts } from "./facts";
import { RunModel } from "./model";
import { samplePage, sampleTick } from "./sample";

const call = (id: string, name: string, turn: number, more: Partial<CallFacts> = {}): CallFacts => ({
  ...{ id, name, turn, began_tick: 2 * turn, ended_tick: 2 * turn + 1, began_s: turn, ended_s: turn },
  ...more,
});
const breach = (call_id: string, turn: number, enforcement = "refuse"): BreachFacts => ({
  ...{ tick: 2 * turn, turn, rule: "nothing_leaks", text: "Nothing leaks.", enforcement, event: "" },
  ...{ call_id, after: "search" },
});

const first = call("1", "search", 1);
const again = call("1", "send", 2, { ran: false });
const model = new RunModel(
  samplePage({
    ticks: [1, 2, 3, 4, 5, 6, 7].map((tick) => sampleTick({ tick })),
    calls: [
      call("0", "search", 1, { ran: false }),
      first,
      again,
      call("2", "search", 2),
      call("3", "send", 3, { ran: false }),
      call("4", "send", 3),
    ],
    breaches: [breach("1", 2), breach("3", 3, "stop"), breach("4", 3, "notify"), breach("", 3)],
  }),
);

test("a rule belongs to the call that has broken it, in its turn", () => {
  expect(breachOf(model, again)?.rule).toBe("nothing_leaks");
  expect(breachOf(model, first)).toBeUndefined();
});

test("what was refused can be gone to; what was only noted was not refused", () => {
  expect(refusedAt(model)).toEqual([3, 5]);
  expect(model.breaches.map(isRefusal)).toEqual([true, true, false, true]);
  expect(model.breaches.slice(0, 3).map(deedOf)).toEqual([
    "Refused by the rule",
    "The run was ended by the rule",
    "It breaks the rule",
  ]);
});

test("what was read is the first result before that tick; what no call has brought was read before the run", () => {
  expect(readBefore(model, ["search", "an attachment", "", "…"], 4)).toEqual([
    { name: "search", call: first },
    { name: "an attachment", call: undefined },
  ]);
  expect(readBefore(model, ["search"], 2)).toEqual([{ name: "search", call: undefined }]);
});
