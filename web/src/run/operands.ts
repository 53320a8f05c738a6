/** Where the values of a line's expressions stand: below their operands, as a list below, or behind the line. */
import type { ClauseFacts, EvaluationFacts } from "./facts";
import { cut, valueText } from "./words";

/** `none`: a value that was not asked for. */
export type Tone = "yes" | "no" | "error" | "none";

/** A value below its operand. */
export interface PlacedValue {
  /** Characters from the beginning of the line's text. */
  readonly column: number;
  readonly text: string;
  readonly tone: Tone;
}

export interface NamedValue {
  readonly name: string;
  readonly text: string;
}

/** What came of a line's expressions. */
export interface Verdict {
  readonly text: string;
  readonly tone: Tone;
}

export interface RowValues {
  /** `operands`: below them, by `placed`; `below`: as `list` on a line of its own; `behind`: as `list` behind the line. */
  readonly place: "operands" | "below" | "behind";
  readonly placed: readonly PlacedValue[];
  readonly list: readonly NamedValue[];
  readonly verdict: Verdict | null;
  /** The column behind the last placed value. */
  readonly end: number;
  /** Why an expression could not be evaluated; empty if all could. */
  readonly error: string;
}

/** An evaluation, with the node that made it. */
export interface NodeEvaluation extends EvaluationFacts {
  readonly node: number;
}

/** A part of a line's text whose expression was evaluated. */
export interface ClauseSpan {
  readonly start: number;
  readonly end: number;
  readonly tone: Tone;
}

export interface RowText {
  readonly text: string;
  /** Spaces before the text, in the file. */
  readonly indent: number;
}

const LONGEST_PLACED = 24;
const VERDICT_ROOM = 10; // characters, with the space before it

/** The innermost clauses of a line's conditions, in order, without overlaps. */
export function clauseSpans(evaluations: readonly NodeEvaluation[], row: RowText): ClauseSpan[] {
  const spans: ClauseSpan[] = [];
  for (const evaluation of evaluations) {
    if (evaluation.column === null || !isJudged(evaluation)) continue;
    const offset = evaluation.column - 1 - row.indent;
    for (const clause of innermost(evaluation.clauses)) {
      const { start, end, tone = "none" } = clause;
      spans.push({ start: offset + start, end: offset + end, tone });
    }
  }
  spans.sort((one, other) => one.start - other.start);
  return spans.filter((span, at) => span.start >= 0 && span.start >= (spans[at - 1]?.end ?? 0));
}

/**
 * Place the values of a line.
 *
 * @param evaluations of the line; at least one.
 * @param row the line; `null`: of a folded line, whose expressions are elsewhere.
 * @param options `room`: characters from the beginning of the text to the edge; `taken`: those of the text itself.
 *   `matters`: the line is on the way to the decision. `unasked`: the value of a blackboard key in a clause that was not
 *   asked; `undefined` if it is none.
 */
export function placeValues(
  evaluations: readonly NodeEvaluation[],
  row: RowText | null,
  options: { room: number; matters: boolean; taken: number; unasked: (key: string) => unknown },
): RowValues {
  const list = evaluations.flatMap((each) =>
    each.operands.map((operand) => ({ name: operand.name, text: operand.text ?? "" })),
  );
  const verdict = verdictOf(evaluations);
  const error = evaluations.map((each) => each.error).find((each) => each !== "") ?? "";
  const placed = row === null ? null : placeBelow(evaluations, row, options.unasked);
  const end = placed === null ? 0 : Math.max(0, ...placed.map((value) => value.column + value.text.length));
  const hasSeveral = evaluations.some((each) => innermost(each.clauses).length > 1);
  const length = list.reduce((sum, value) => sum + value.name.length + value.text.length + 4, VERDICT_ROOM);
  const matters = options.matters || (verdict?.tone === "yes" && hasSeveral);
  const isBelow =
    list.length > 0 &&
    row !== null &&
    (error !== "" || (matters && (hasSeveral || length > options.room - options.taken)));
  if (!isBelow) return { place: "behind", placed: [], list, verdict, end: 0, error };
  if (placed !== null && placed.length > 0 && end + VERDICT_ROOM <= options.room)
    return { place: "operands", placed, list, verdict, end, error };
  return { place: "below", placed: [], list, verdict, end: 0, error };
}

/** The values below their operands; `null` if they do not fit. */
function placeBelow(
  evaluations: readonly NodeEvaluation[],
  row: RowText,
  unasked: (key: string) => unknown,
): PlacedValue[] | null {
  const placed: PlacedValue[] = [];
  for (const evaluation of evaluations) {
    if (evaluation.column === null || evaluation.column - 1 < row.indent) return null;
    const offset = evaluation.column - 1 - row.indent;
    const clauses = innermost(evaluation.clauses);
    for (const operand of evaluation.operands) {
      for (const at of operand.at ?? []) {
        const clause = clauses.find((each) => each.start <= at && at < each.end);
        const text = cut(operand.text ?? "", LONGEST_PLACED);
        placed.push({ column: offset + at, text, tone: clause?.tone ?? "none" });
      }
    }
    for (const clause of clauses.filter((each) => !each.asked)) {
      for (const name of evaluation.text.slice(clause.start, clause.end).matchAll(NAMES)) {
        const value = name[1] === undefined ? undefined : unasked(name[1]);
        if (value === undefined) continue;
        placed.push({
          column: offset + clause.start + name.index,
          text: valueText(value, LONGEST_PLACED),
          tone: "none",
        });
      }
    }
  }
  placed.sort((one, other) => one.column - other.column);
  const overlaps = placed.some((value, at) => {
    const before = placed[at - 1];
    return before !== undefined && before.column + before.text.length >= value.column;
  });
  return overlaps ? null : placed;
}

/** Names outside of quoted texts; the first group is empty for a quoted text. */
const NAMES = /"[^"]*"|'[^']*'|\b([A-Za-z_]\w*)\b(?!\s*\()/g;

function innermost(clauses: readonly ClauseFacts[]): ClauseFacts[] {
  return clauses.filter(
    (clause) =>
      !clauses.some(
        (other) =>
          other.start >= clause.start &&
          other.end <= clause.end &&
          other.end - other.start < clause.end - clause.start,
      ),
  );
}

/** What came of all of a line's expressions: that of an error or of a "no" before others. */
function verdictOf(evaluations: readonly NodeEvaluation[]): Verdict | null {
  const told = ["error", "no"].map((tone) => evaluations.find((each) => each.tone === tone));
  const { verdict = "", tone = "none" } = told.find((each) => each !== undefined) ?? evaluations[0] ?? {};
  return verdict === "" ? null : { text: verdict, tone };
}

/** It is asked for yes or no. */
function isJudged({ tone, value }: EvaluationFacts): boolean {
  return (tone ?? "none") !== "none" || typeof value === "boolean";
}
