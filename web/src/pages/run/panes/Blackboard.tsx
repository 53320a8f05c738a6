/** The blackboard at the tick that is shown: what changed, first; then the other values. */
import { memo, useState, type ReactNode } from "react";
import { plural } from "@/parts/format";
import { ChevronDownIcon, ChevronRightIcon } from "@/parts/icons";
import { boardAt, pastValues, type BoardRow } from "@/run/board";
import type { RunModel } from "@/run/model";
import { valueText } from "@/run/words";
import { LongText } from "./LongText";

const LONGEST = 200; // characters of a value in its row
const SHORT = 30; // characters of a value that its row shows whole

const HEADING = "pt-2.5 px-4 pb-1 text-ink-3 text-sm";

interface BlackboardProps {
  model: RunModel;
  at: number;
  version: number;
  onSelectTick: (at: number) => void;
  /** The key that a search has found. */
  found?: string | null;
  /** Where the run is halted, and may be changed. */
  onChange?: ((row: BoardRow) => void) | undefined;
}

export const Blackboard = memo(function Blackboard({
  model,
  at,
  onSelectTick,
  found = null,
  onChange,
}: BlackboardProps) {
  const [opened, setOpened] = useState<string | null>(null);
  const [showsEmpty, setShowsEmpty] = useState(false);
  const board = boardAt(model, at);
  const row = (each: BoardRow, isChanged: boolean): ReactNode => {
    const isOpen = opened === each.key;
    return (
      <li
        key={each.key}
        className={
          each.key === found
            ? "[&>button]:outline-2 [&>button]:outline-focus [&>button]:-outline-offset-2"
            : undefined
        }
      >
        <button
          type="button"
          className={`grid grid-cols-[minmax(96px,40%)_minmax(0,1fr)] gap-3 w-full min-h-6 py-0.5 pr-4 border-0 bg-transparent font-mono text-sm text-left hover:bg-[color-mix(in_srgb,var(--ink)_4%,transparent)] ${isChanged ? "pl-3.25 text-ink" : "pl-4 text-ink-2"}`}
          aria-expanded={isOpen}
          title={[each.type, each.description].filter(Boolean).join(": ")}
          onClick={() => setOpened(isOpen ? null : each.key)}
        >
          <span className="truncate">{each.key}</span>
          <span className="truncate">
            {isChanged && (
              <>
                <span className="text-ink-3">{valueText(each.before, 24)}</span> →{" "}
              </>
            )}
            <b className={`text-ink ${isChanged ? "font-strong" : "font-medium"}`}>
              {valueText(each.value, LONGEST)}
            </b>
          </span>
        </button>
        {isOpen && (
          <KeyDetails model={model} at={at} row={each} onSelectTick={onSelectTick} onChange={onChange} />
        )}
      </li>
    );
  };
  return (
    <div className="pb-3">
      <h2 className={HEADING}>
        {board.changed.length > 0 ? "Changed in this tick" : "Nothing changed in this tick"}
      </h2>
      {board.changed.length > 0 && (
        <ul
          className="list-none board-changed border-l-3 border-warn-fill bg-warn-soft animate-[board-changed_var(--slow)_var(--ease)]"
          key={at}
        >
          {board.changed.map((each) => row(each, true))}
        </ul>
      )}
      {board.others.length > 0 && <h2 className={HEADING}>Unchanged</h2>}
      <ul className="list-none">{board.others.map((each) => row(each, false))}</ul>
      {board.empty.length > 0 && (
        <>
          <button
            type="button"
            className="flex items-center gap-1.5 min-h-6 py-0.5 px-4 border-0 bg-transparent text-ink-3 text-sm"
            aria-expanded={showsEmpty}
            onClick={() => setShowsEmpty(!showsEmpty)}
          >
            {showsEmpty ? <ChevronDownIcon size={12} /> : <ChevronRightIcon size={12} />}
            {plural(board.empty.length, "key")} without a value yet
          </button>
          {showsEmpty && <ul className="list-none">{board.empty.map((each) => row(each, false))}</ul>}
        </>
      )}
    </div>
  );
});

interface KeyDetailsProps {
  model: RunModel;
  at: number;
  row: BoardRow;
  onSelectTick: (at: number) => void;
  onChange: ((row: BoardRow) => void) | undefined;
}

/** What a key is for, its whole value, and what it held before. */
function KeyDetails({ model, at, row, onSelectTick, onChange }: KeyDetailsProps) {
  const past = pastValues(model, row.key, model.ticks.length - 1);
  const whole = valueText(row.value, Number.POSITIVE_INFINITY, 1);
  return (
    <div className="board-details pt-0.5 px-4 pb-2.5 text-ink-2 text-sm">
      {(row.type || row.description) && (
        <p>
          {row.type && <code>{row.type}</code>} {row.description}
        </p>
      )}
      {whole.length > SHORT && (
        <LongText className="max-h-50 my-1.5 py-1.5 px-2 border border-line rounded-sm bg-surface">
          {whole}
        </LongText>
      )}
      <ol className="max-h-55 mt-1 border-l-2 border-line-2 list-none overflow-auto">
        {past.map((each) => (
          <li key={each.at}>
            <button
              type="button"
              className="grid grid-cols-[64px_minmax(0,1fr)] gap-2 w-full min-h-6 py-px px-2 border-0 bg-transparent font-mono text-left hover:enabled:bg-sel aria-[current]:bg-sel"
              disabled={each.at < 0}
              aria-current={each.at === at ? "step" : undefined}
              onClick={() => onSelectTick(each.at)}
            >
              <span>{each.at < 0 ? "before" : `tick ${model.ticks[each.at]?.tick ?? ""}`}</span>
              <b className="font-medium truncate">{valueText(each.value, LONGEST)}</b>
            </button>
          </li>
        ))}
      </ol>
      {onChange && !row.isReadOnly && (
        <button
          type="button"
          className="min-h-6 mt-1.5 py-0 px-2 border border-line-2 rounded-md bg-surface"
          onClick={() => onChange(row)}
        >
          Change the value…
        </button>
      )}
    </div>
  );
}
