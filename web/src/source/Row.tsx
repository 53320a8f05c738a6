/** A line of the source: gutter, edges of the tree, code with its clauses, and what its node saw. */
import { memo, type CSSProperties, type ReactNode } from "react";
import { Mark as MarkSign } from "@/parts/Mark";
import { FileIcon } from "@/parts/icons";
import { Mark, markWord } from "@/run/marks";
import type { RowValues } from "@/run/operands";
import { guidesOf, segmentsOf, type Guide, type Segment, type TickView } from "@/run/rows";
import { leftOf, type PlacedRow } from "./arrange";
import type { BreakpointMark } from "./interface";
import { markKind } from "./markKind";

const MARK = "absolute top-1 grid";
const FREE = "opacity-30 hover:enabled:opacity-60"; // seen before it is looked for
const EDGE_PX = 4; // between the code and the matrix
const LEAST_SAID = 6; // characters: fewer say nothing

/** What all rows share. */
export interface RowFrame {
  readonly view: TickView;
  readonly markOf: (node: number) => Mark;
  /** The node was asked in an earlier tick of the turn. */
  readonly wasAsked: (node: number) => boolean;
  /** `x` up to which indents are narrower. */
  readonly base: number;
  readonly codeWidth: number;
  readonly charWidth: number;
  readonly gutter: number;
  readonly turn: number | null;
  /** Where the marks of a second run stand; `null` without one. */
  readonly otherLeft: number | null;
}

interface RowProps {
  id: string;
  shown: PlacedRow;
  frame: RowFrame;
  /** The gutter has a place to set a breakpoint at. */
  canBreak: boolean;
  top: number | null;
  /** Which of the shown rows it is, from 1 on. */
  number: number;
  isSelected: boolean;
  breakpoint: BreakpointMark | undefined;
  isPaused: boolean;
  /** It stays in view while its own place is scrolled away; it is a second one for the eye alone. */
  isSticky?: boolean;
}

export const Row = memo(function Row(props: RowProps) {
  const { id, shown, frame, top, number, isSelected, isSticky = false } = props;
  const { row, mark } = shown;
  const left = frame.gutter + leftOf(row.x, frame.base);
  const style: CSSProperties = { height: shown.height };
  if (top !== null) style.transform = `translateY(${top}px)`;
  const category = shown.node === null ? undefined : frame.view.source.nodes[shown.node]?.category;
  const isLeaf = category !== "composite" && category !== "decorator";
  const tone = toneClass(shown, frame.otherLeft !== null);
  const segments = segmentsOf(shown, frame.view.source);
  const { kept, room, isTight } = fitOf(
    shown,
    segments,
    (frame.codeWidth - left - EDGE_PX) / frame.charWidth,
  );
  const semantics = isSticky
    ? { "aria-hidden": true }
    : {
        id,
        role: "row",
        "aria-rowindex": number,
        "aria-level": row.level,
        "aria-selected": isSelected,
        "aria-label": labelOf(shown, frame),
        ...(shown.isFoldable ? { "aria-expanded": !shown.isFolded } : {}),
      };
  return (
    <div
      className={`source-row ${tone} ${isSelected ? "is-selected" : ""}`}
      style={style}
      data-row={shown.sign === "+" ? undefined : row.index}
      {...semantics}
    >
      {guidesOf(shown.beside, frame.view, frame.markOf)
        .filter((guide) => shown.sign !== "+" || (guide.x < row.x && !guide.isEnd))
        .map((guide, at) => (
          <Edge key={at} guide={guide} frame={frame} />
        ))}
      <Gutter {...props} />
      {shown.sign !== "" && (
        <span className="absolute left-1.75 text-ink font-strong">{shown.sign === "-" ? "−" : "+"}</span>
      )}
      {frame.otherLeft !== null && shown.otherMark !== null && shown.otherMark !== Mark.notAsked && (
        <span className={MARK} style={{ left: frame.otherLeft }}>
          <MarkSign kind={markKind(shown.otherMark)} size={12} label={null} />
        </span>
      )}
      <span
        className={`source-code ${isTight ? "is-tight" : ""}`}
        role="gridcell"
        style={{ left, width: Math.max(40, frame.codeWidth - left - EDGE_PX) }}
      >
        <span className="source-text" style={{ minWidth: `${kept + 0.5}ch` }}>
          {segments.map((segment, at) => (
            <span
              key={at}
              className={`source-token is-${segment.kind}${isLeaf && segment.kind === "kind" ? " is-leaf" : ""}${segment.tone === undefined ? "" : ` is-${segment.tone}`}`}
            >
              {segment.node !== undefined && mark !== Mark.notAsked && (
                <MarkSign kind={markKind(frame.markOf(segment.node))} size={9} label={null} />
              )}
              {segment.text}
            </span>
          ))}
        </span>
        {shown.tag !== "" && <span className="source-name">{shown.tag}</span>}
        {shown.note !== "" && (
          <button type="button" className="source-note" tabIndex={-1}>
            {shown.note}
          </button>
        )}
        {shown.include !== "" && (
          <span className="source-include">
            <FileIcon size={11} />
            <span>{shown.include}</span>
          </span>
        )}
        {shown.said !== "" && room >= LEAST_SAID && (
          <span className={`source-said ${mark === Mark.running ? "is-running" : ""}`}>
            {emphasised(shown.said)}
          </span>
        )}
        {shown.values?.place === "behind" && <Behind values={shown.values} room={room} />}
      </span>
      {shown.values !== null && !isSticky && <Below values={shown.values} left={left} frame={frame} />}
    </div>
  );
});

function Gutter({ shown, frame, canBreak, breakpoint, isPaused, isSticky = false }: RowProps) {
  const { node, row } = shown;
  const own = node === null ? null : shown.mark;
  const mark = shown.sign === "+" ? shown.otherMark : own;
  const isShown = mark !== null && (mark !== Mark.notAsked || (node !== null && frame.wasAsked(node)));
  return (
    <>
      {node !== null && !isSticky && (canBreak || breakpoint !== undefined) && (
        <span role="gridcell">
          <button
            type="button"
            className={`source-breakpoint absolute inset-y-0 left-0 grid place-items-start w-12 border-0 pt-1.25 pr-0 pb-0 pl-0.75 bg-transparent ${isPaused ? "" : breakpoint === undefined ? FREE : breakpoint.enabled ? "" : "opacity-40"}`}
            aria-label={`${breakpoint === undefined ? "Set" : "Remove"} breakpoint in line ${row.line}`}
            title={isPaused ? "Paused here" : breakpoint?.problem}
            tabIndex={-1}
            disabled={!canBreak}
          >
            <MarkSign kind={isPaused ? "paused" : "breakpoint"} size={isPaused ? 12 : 10} label={null} />
          </button>
        </span>
      )}
      {isSticky && isPaused && <MarkSign kind="paused" className="absolute top-1 left-0.75" />}
      <span className="absolute left-3.5 w-7.5 text-ink-3 text-xs text-right [.is-narrow_&]:left-1">
        {row.line}
      </span>
      {isShown && (
        <span className={`${MARK} left-12.75 [.is-narrow_&]:left-10`}>
          <MarkSign kind={markKind(mark)} size={12} label={null} />
        </span>
      )}
    </>
  );
}

const MARK_CLASS = [
  "",
  "is-yes",
  "is-no",
  "is-running",
  "is-running",
  "is-running",
  "is-error",
  "is-yes",
] as const;

const EDGES: Readonly<Record<string, string>> = {
  "is-no": "bg-fail-fill",
  "is-running": "bg-run-fill",
  "is-error": "bg-err-fill",
};

function Edge({ guide, frame }: { guide: Guide; frame: RowFrame }) {
  const left = leftOf(guide.x + 3, frame.base);
  const x = frame.gutter + left;
  if (guide.mark === null)
    return guide.x < frame.base ? null : (
      <i className="absolute inset-y-0 w-px bg-line" style={{ left: x }} />
    );
  const edge = `source-edge absolute ${EDGES[MARK_CLASS[guide.mark]] ?? "bg-ok-fill"}`;
  if (guide.until === null)
    return <i className={`${edge} top-0 w-0.5 ${guide.isEnd ? "h-2.75" : "bottom-0"}`} style={{ left: x }} />;
  return (
    <i
      className={`${edge} top-2.25 h-0.5`}
      style={{ left: x, width: Math.max(0, leftOf(guide.until, frame.base) - left - 3) }}
    />
  );
}

function Behind({ values, room }: { values: RowValues; room: number }) {
  const left = room - (values.verdict === null ? 0 : values.verdict.text.length + 3);
  return (
    <>
      {values.list.length > 0 && left >= LEAST_SAID && <span className="source-said">{listOf(values)}</span>}
      {values.verdict !== null && <VerdictWord values={values} />}
    </>
  );
}

function Below({ values, left, frame }: { values: RowValues; left: number; frame: RowFrame }) {
  const { charWidth } = frame;
  const error = values.error !== "" && (
    <span
      className="source-error"
      title={values.error}
      style={{
        left: left + 2 * charWidth,
        top: values.place === "behind" ? 20 : 40,
        width: Math.max(40, frame.codeWidth - left - 2 * charWidth - EDGE_PX),
      }}
    >
      {values.error}
    </span>
  );
  if (values.place === "behind") return error;
  if (values.place === "operands")
    return (
      <>
        {values.placed.map((value) => (
          <span
            key={value.column}
            className={`source-value is-${value.tone}`}
            style={{ left: left + value.column * charWidth }}
          >
            {value.text}
          </span>
        ))}
        <span className="source-below" style={{ left: left + (values.end + 2) * charWidth }}>
          <VerdictWord values={values} />
        </span>
        {error}
      </>
    );
  return (
    <>
      <span
        className="source-below is-list"
        style={{
          left: left + 4 * charWidth,
          width: Math.max(40, frame.codeWidth - left - 4 * charWidth - EDGE_PX),
        }}
      >
        <span className="source-said">{listOf(values)}</span>
        <VerdictWord values={values} />
      </span>
      {error}
    </>
  );
}

function VerdictWord({ values }: { values: RowValues }) {
  if (values.verdict === null) return null;
  return <span className={`source-verdict is-${values.verdict.tone}`}>→ {values.verdict.text}</span>;
}

function listOf(values: RowValues): ReactNode[] {
  return values.list.map(({ name, text }, at) => (
    <span key={at}>
      {at > 0 && " · "}
      {name} <b>{text}</b>
    </span>
  ));
}

/** What of a line with so much room is never cut, and what is left for values, in characters. */
function fitOf({ tag, note, said }: PlacedRow, segments: readonly Segment[], room: number) {
  const kind = segments.findIndex((each) => each.kind === "kind");
  const end = segments[kind + 1]?.text === ":" ? kind + 2 : kind + 1;
  const length = (some: readonly Segment[]) => some.reduce((sum, each) => sum + each.text.length, 0);
  const more = end < segments.length ? 2 : 0; // a space and the ellipsis
  const kept = Math.min(
    length(segments.slice(0, end)) + more,
    tag === "" ? room : Math.max(3, room - tag.length - 7),
  );
  const whole = [tag, note, said].reduce(
    (sum, each) => sum + (each === "" ? 0 : each.length + 3),
    length(segments),
  );
  const isTight = whole > room;
  const beside =
    (tag === "" ? 0 : tag.length + 3) + (note === "" ? 0 : isTight && tag !== "" ? 4 : note.length + 3);
  return { kept, room: room - kept - beside, isTight };
}

/** Figures and quoted texts stand out. */
function emphasised(text: string): ReactNode[] {
  return text
    .split(/("[^"]*"|\b\d[\d,.]*\b)/)
    .map((part, at) => (at % 2 === 1 ? <b key={at}>{part}</b> : part));
}

function toneClass({ node, mark, isDecision, sign, otherMark }: PlacedRow, isCompared: boolean): string {
  if (sign !== "") return sign === "-" ? "is-old" : "is-new";
  if (node === null) return "is-quiet";
  if (isCompared && mark !== (otherMark ?? Mark.notAsked)) return "is-different";
  if (mark === Mark.error) return "is-error";
  if (isDecision) return `is-decision ${MARK_CLASS[mark]}`;
  return mark === Mark.notAsked ? "is-unasked" : "";
}

function labelOf({ row, node, mark, values, said, note }: PlacedRow, { view, turn }: RowFrame): string {
  if (node === null)
    return [`line ${row.line}`, row.text.slice(0, 200), note].filter((each) => each !== "").join(", ");
  const kind = view.source.nodes[node]?.kind ?? "";
  const name = view.source.nodes[node]?.name ?? "";
  const shown = values === null ? [said] : values.list.map((each) => `${each.name} ${each.text}`);
  const parts = [`line ${row.line}`, kind, name, markWord(mark), ...shown, values?.error ?? "", note];
  return [...parts, turn === null ? "" : `turn ${turn}`].filter((each) => each !== "").join(", ");
}
