import { useQuery } from "@tanstack/react-query";

import { duration, plural } from "@/parts/format";
import { Mark } from "@/parts/Mark";

import { trials } from "../calls";
import type { Explanation } from "../types";
import { Remark, TrialResult, type TrialProps } from "./Trial";

type Row = Explanation["rows"][number];
type Change = Explanation["changes"][number];

interface BehaviourProps extends TrialProps {
  /** The trees in which the text can be tried; a part alone does nothing. */
  explored: readonly string[];
  /** Of the cursor: the rows in which its node was visited stand out. */
  line: number;
  onLine: (line: number) => void;
}

/** What the tree does in each situation, what the text changes first. */
export function Behaviour({ name, text, isReady, explored, line, onLine }: BehaviourProps) {
  const of = explored.includes(name) ? name : (explored[0] ?? name);
  const query = useQuery({ ...trials.explain(name, text, of), enabled: isReady && explored.length > 0 });
  if (explored.length === 0) return <Remark>No tree that answers questions uses this file.</Remark>;
  return (
    <TrialResult query={query} isReady={isReady} busy="Playing the situations">
      {({ result, seconds }) => (
        <>
          <header className="flex items-center gap-2 py-3 px-4">
            <h2 className="flex-1 text-md">
              {result.changes.length === 0
                ? "Does the same as the saved version"
                : `${plural(result.changes.length, "row")} changed`}
            </h2>
            <span className="text-ink-3">{duration(seconds)}</span>
          </header>
          <ul aria-label="Changed rows">
            {result.changes.map((change) => (
              <Changed key={change.ids.join()} change={change} line={line} onLine={onLine} />
            ))}
          </ul>
          <Remark>
            What {result.tree} does, the shortest first. Tools of the first turn: {result.offered}.
            {result.unreached.length > 0 && ` No situation reaches ${lines(result.unreached)}.`}
            {result.left_out.length > 0 && ` Not played for want of time: ${result.left_out.join(", ")}.`}
          </Remark>
          <ul aria-label="Rows">
            {result.rows.map((row) => (
              <li key={row.ids.join()} className="border-b border-line">
                <Situation row={row} line={line} onLine={onLine} />
              </li>
            ))}
          </ul>
        </>
      )}
    </TrialResult>
  );
}

interface PlaceProps {
  line: number;
  onLine: (line: number) => void;
}

function Changed({ change, ...place }: { change: Change } & PlaceProps) {
  const { when, old, new: now, rules } = change;
  return (
    <li className="border-b border-line">
      <p className="flex gap-2 pt-2 px-4">
        <Mark kind="warning" size={13} className="mt-1" label="Changed" />
        <span>
          When {when}: <b>{change.change}</b>.{" "}
          <span className="text-ink-3">
            {rules.length > 0 ? `Rules: ${rules.join(", ")}.` : "No rule covers it."}
          </span>
        </span>
      </p>
      {old && <Situation row={old} word="Was" {...place} />}
      {now && <Situation row={now} word="Now" {...place} />}
    </li>
  );
}

function Situation({ row, word, line, onLine }: { row: Row; word?: string } & PlaceProps) {
  const to = row.line ?? row.lines.at(-1) ?? null;
  return (
    <button
      type="button"
      className="block w-full py-2 px-4 border-0 bg-transparent text-left wrap-anywhere aria-current:bg-surface-2"
      aria-current={row.lines.includes(line) || undefined}
      disabled={to === null}
      onClick={() => {
        if (to !== null) onLine(to);
      }}
    >
      {word ? <b>{word}: </b> : <b>When {row.when}: </b>}
      {row.does}. <span className="text-ink-2">The user sees {row.sees}.</span> Ends as {row.ends}.
      {row.broken_rules.length > 0 && (
        <span className="text-warn"> Breaks the rule {row.broken_rules.join(", ")}.</span>
      )}
    </button>
  );
}

function lines(of: readonly number[]): string {
  return `line${of.length === 1 ? "" : "s"} ${of.join(", ")}`;
}
