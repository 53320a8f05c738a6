/**
 * What a person is asked, in words and as a form.
 *
 * A form is made of the JSON schema of the answer, as far as that is simple; everything else is typed as JSON. The service
 * checks what it gets: what is checked here only saves a way.
 */
import type { Delivery } from "@/api/people";
import type { Schemas } from "@/api/types";

export type Interrupt = Schemas["Interrupt"];

/** What was answered, beside who and when. */
export interface Answered {
  readonly answer?: unknown;
  readonly arguments?: unknown;
  readonly comment?: string | null;
}

/** What a person decides; the interrupt's id is added where it is sent. */
export type Decision = Omit<Delivery, "id">;

export interface Option {
  readonly value: unknown;
  readonly label: string;
}

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly kind: "text" | "number" | "boolean" | "options";
  readonly isRequired: boolean;
  readonly options: readonly Option[];
}

/** How an answer is given: one of some options, and perhaps words of one's own; words; some fields; or JSON. */
export type Form =
  | { readonly kind: "options"; readonly options: readonly Option[]; readonly hasText: boolean }
  | { readonly kind: "text" }
  | { readonly kind: "fields"; readonly fields: readonly Field[] }
  | { readonly kind: "json" };

type Schema = Readonly<Record<string, unknown>>;

const MOST_OPTIONS = 30;
const MOST_FIELDS = 12;

export function formOf(given: unknown): Form {
  if (!isObject(given)) return { kind: "json" };
  if (Object.keys(given).length === 0) return { kind: "text" };
  const options = optionsOf(given);
  if (options) return { kind: "options", options, hasText: false };
  const ways = [given.anyOf, given.oneOf].find(Array.isArray) as unknown[] | undefined;
  if (ways?.length === 2) {
    const [one, other] = ways;
    const some = optionsOf(isObject(one) ? one : {});
    if (some && isObject(other) && other.type === "string")
      return { kind: "options", options: some, hasText: true };
  }
  if (given.type === "string") return { kind: "text" };
  if (given.type === "object" && isObject(given.properties)) {
    const required: unknown[] = Array.isArray(given.required) ? given.required : [];
    const fields = Object.entries(given.properties).map(([name, each]) =>
      fieldOf(name, each, required.includes(name)),
    );
    const known = fields.filter((field) => field !== null);
    if (known.length === fields.length && known.length > 0 && known.length <= MOST_FIELDS)
      return { kind: "fields", fields: known };
  }
  return { kind: "json" };
}

function optionsOf(schema: Schema): readonly Option[] | null {
  if (schema.type === "boolean")
    return [
      { value: true, label: "Yes" },
      { value: false, label: "No" },
    ];
  const listed: unknown = schema.enum ?? schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > MOST_OPTIONS) return null;
  if (Array.isArray(schema.enum))
    return schema.enum.map((value: unknown) => ({ value, label: labelOf(value) }));
  const options = listed.flatMap((each: unknown): Option[] =>
    isObject(each) && "const" in each
      ? [{ value: each.const, label: typeof each.title === "string" ? each.title : labelOf(each.const) }]
      : [],
  );
  return options.length === listed.length ? options : null;
}

function fieldOf(name: string, given: unknown, isRequired: boolean): Field | null {
  if (!isObject(given)) return null;
  const { title, description } = given;
  const label = typeof title === "string" && title !== "" ? title : name;
  const known = {
    name,
    label,
    hint: typeof description === "string" ? description : "",
    isRequired,
    options: [],
  };
  if (given.type === "boolean") return { ...known, kind: "boolean" };
  const options = optionsOf(given);
  if (options) return { ...known, kind: "options", options };
  if (given.type === "string") return { ...known, kind: "text" };
  if (given.type === "number" || given.type === "integer") return { ...known, kind: "number" };
  return null;
}

export type Parsed =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/** The answer of some fields, by their texts; a field without a text is left out, if it may be. */
export function answerOf(fields: readonly Field[], texts: Readonly<Record<string, string>>): Parsed {
  const answer: Record<string, unknown> = {};
  for (const { name, label, kind, isRequired, options } of fields) {
    const text = texts[name] ?? "";
    if (kind === "boolean") answer[name] = text === "true";
    else if (text.trim() === "") {
      if (isRequired) return { ok: false, problem: `${label} is needed.` };
    } else if (kind === "number") {
      if (!Number.isFinite(Number(text))) return { ok: false, problem: `${label} must be a number.` };
      answer[name] = Number(text);
    } else answer[name] = kind === "options" ? options[Number(text)]?.value : text;
  }
  return { ok: true, value: answer };
}

export function parseJson(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false, problem: "This is not valid JSON. Put text in double quotes." };
  }
}

/** Arguments that were edited: they replace the whole. */
export function parseArguments(text: string): Parsed {
  const parsed = parseJson(text);
  if (!parsed.ok || isObject(parsed.value)) return parsed;
  return { ok: false, problem: "Arguments must be a JSON object, in braces." };
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const labelOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** An answer as it is shown: texts as they are, all else as JSON. */
export const answerText = (answer: unknown): string =>
  typeof answer === "string" ? answer : JSON.stringify(answer, null, 1);

/** What is asked for, in a word: “Approval”. */
export function askedFor({ reason }: Pick<Interrupt, "reason">): string {
  return { tool_call: "Approval", confirmation: "Approval", input_required: "Question" }[reason];
}

/** Who may answer, if it is not the person who asked. */
export function whoAnswers({ answerers }: Pick<Interrupt, "answerers">): string | null {
  return {
    user: null,
    operator: "Only an operator can answer.",
    not_asker: "Only an operator other than the asker can answer.",
  }[answerers];
}

/** Whether a person may answer; the service has the last word. */
export function mayAnswer(
  { answerers }: Pick<Interrupt, "answerers">,
  { isOperator, isAsker }: { isOperator: boolean; isAsker: boolean },
): boolean {
  if (answerers === "user") return isAsker;
  return isOperator && (answerers === "operator" || !isAsker);
}

const AFTERWARDS = {
  refuse: "it counts as refused",
  default: "the default is used",
  fail: "it counts as not answered",
} as const;

/** Until when it can be answered, and what happens then. */
export function deadlineOf({
  expires_at,
  on_expiry,
  response_schema: { default: value } = {},
}: Pick<Interrupt, "expires_at" | "on_expiry"> & Partial<Pick<Interrupt, "response_schema">>): string | null {
  if (!expires_at) return null;
  const shown = on_expiry === "default" && value != null ? `: ${labelOf(value)}` : "";
  return `Answer by ${momentOf(expires_at)}. After that ${AFTERWARDS[on_expiry]}${shown}.`;
}

/** `27 Nov, 03:47` */
export function momentOf(iso: string): string {
  const date = new Date(iso);
  const time = date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  return `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })}, ${time}`;
}

export interface State {
  readonly words: string;
  readonly tone: "ok" | "fail" | "run" | "plain";
  readonly mark: "success" | "failure" | "running" | "halted";
}

const OVER = { tone: "plain", mark: "halted" } as const;
const YES = { tone: "ok", mark: "success" } as const;

const STATES: Readonly<Record<Interrupt["status"], State>> = {
  pending: { words: "waiting", tone: "run", mark: "running" },
  approved: { words: "approved", ...YES },
  edited: { words: "approved with changes", ...YES },
  answered: { words: "answered", ...YES },
  refused: { words: "refused", tone: "fail", mark: "failure" },
  expired: { words: "not answered in time", ...OVER },
  withdrawn: { words: "withdrawn", ...OVER },
};

/** How it stands. One that is open in a query that has ended, or in an export, waits for nobody. */
export function stateOf({ status }: Pick<Interrupt, "status">, isOver = false): State {
  return STATES[isOver && status === "pending" ? "withdrawn" : status];
}

/** `by olga, 27 Nov, 03:47` */
export function byWhom({ answered_by, answered_at }: Pick<Interrupt, "answered_by" | "answered_at">): string {
  return [answered_by && `by ${answered_by}`, answered_at && momentOf(answered_at)]
    .filter(Boolean)
    .join(", ");
}
