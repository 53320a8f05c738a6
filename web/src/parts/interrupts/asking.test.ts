import { describe, expect, test } from "vitest";
import {
  answerOf,
  answerText,
  byWhom,
  deadlineOf,
  formOf,
  mayAnswer,
  parseArguments,
  stateOf,
  type Field,
  type Form,
} from "./asking";

const labels = (form: Form): unknown =>
  form.kind === "options" ? form.options.map((each) => each.label) : form.kind;

describe("the form of an answer", () => {
  test.each([
    [{}, "text"],
    [{ type: "string" }, "text"],
    [{ enum: ["red", "blue", 3] }, ["red", "blue", "3"]],
    [{ type: "boolean" }, ["Yes", "No"]],
    [{ oneOf: [{ const: "a", title: "The first" }, { const: "b" }] }, ["The first", "b"]],
    [{ type: "array", items: { type: "string" } }, "json"],
    [{ type: "object", properties: { deep: { type: "object" } } }, "json"],
    [{ type: "object", properties: {} }, "json"],
    [{ enum: [] }, "json"],
    ["no schema", "json"],
  ])("of %j is %j", (schema, expected) => {
    expect(labels(formOf(schema))).toEqual(expected);
  });
  test("has options, and words of one's own beside them", () => {
    const form = formOf({ anyOf: [{ enum: ["red", "blue"] }, { type: "string" }] });
    expect(form).toMatchObject({ kind: "options", hasText: true });
    expect(labels(form)).toEqual(["red", "blue"]);
  });
  test("has a field for each simple property", () => {
    const form = formOf({
      type: "object",
      properties: {
        name: { type: "string", title: "Your name", description: "As in the register." },
        age: { type: "integer" },
        size: { enum: ["S", "M"] },
        sure: { type: "boolean" },
      },
      required: ["name"],
    });
    expect(
      form.kind === "fields" && form.fields.map(({ label, kind, isRequired }) => [label, kind, isRequired]),
    ).toEqual([
      ["Your name", "text", true],
      ["age", "number", false],
      ["size", "options", false],
      ["sure", "boolean", false],
    ]);
  });
});

describe("the answer of some fields", () => {
  const field = (name: string, kind: Field["kind"], more: Partial<Field> = {}): Field => ({
    name,
    label: name,
    hint: "",
    kind,
    isRequired: false,
    options: [],
    ...more,
  });
  const fields = [
    field("name", "text", { isRequired: true }),
    field("age", "number"),
    field("size", "options", { options: [{ value: 7, label: "seven" }] }),
    field("sure", "boolean"),
  ];
  test("has values of their types, and leaves out what is empty", () => {
    expect(answerOf(fields, { name: "Ada", age: "36", size: "0", sure: "true" })).toEqual({
      ok: true,
      value: { name: "Ada", age: 36, size: 7, sure: true },
    });
    expect(answerOf(fields, { name: "Ada" })).toEqual({ ok: true, value: { name: "Ada", sure: false } });
  });
  test("says what is missing or wrong", () => {
    expect(answerOf(fields, { name: " " })).toEqual({ ok: false, problem: "name is needed." });
    expect(answerOf(fields, { name: "Ada", age: "old" })).toEqual({
      ok: false,
      problem: "age must be a number.",
    });
  });
});

test("edited arguments are an object", () => {
  expect(parseArguments('{"path": "a.md"}')).toEqual({ ok: true, value: { path: "a.md" } });
  expect(parseArguments("[1]")).toMatchObject({ ok: false });
  expect(parseArguments("{path: 1}")).toMatchObject({ ok: false });
});

test.each([
  ["user", true, false, true],
  ["user", false, false, false],
  ["user", false, true, false],
  ["operator", true, false, false],
  ["operator", true, true, true],
  ["not_asker", true, true, false],
  ["not_asker", false, true, true],
] as const)("%s: asker %s, operator %s: may answer %s", (answerers, isAsker, isOperator, expected) => {
  expect(mayAnswer({ answerers }, { isAsker, isOperator })).toBe(expected);
});

test("what was never answered is over when the query is, and waits for nobody", () => {
  expect(stateOf({ status: "pending" }).words).toBe("waiting");
  expect(stateOf({ status: "pending" }, true).words).toBe("withdrawn");
  expect(stateOf({ status: "refused" }, true).tone).toBe("fail");
});

test("says who answered and when, and what happens where nobody does", () => {
  expect(byWhom({ answered_by: "olga", answered_at: "2026-11-27T03:47:00" })).toBe("by olga, 27 Nov, 03:47");
  expect(byWhom({})).toBe("");
  expect(deadlineOf({ expires_at: "2026-11-27T03:47:00", on_expiry: "refuse" })).toBe(
    "Answer by 27 Nov, 03:47. After that it counts as refused.",
  );
  expect(
    deadlineOf({
      expires_at: "2026-11-27T03:47:00",
      on_expiry: "default",
      response_schema: { type: "string", default: "main" },
    }),
  ).toBe("Answer by 27 Nov, 03:47. After that the default is used: main.");
  expect(deadlineOf({ on_expiry: "fail" })).toBeNull();
  expect(answerText({ a: 1 })).toBe('{\n "a": 1\n}');
});
