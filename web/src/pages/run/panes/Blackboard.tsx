/** The blackboard at the tick that is shown: what changed, first; then the other values. */
import { memo, useState, type ReactNode } from "react";
import { plural } from "@/parts/format";
import { ChevronDownIcon, ChevronRightIcon } from "@/parts/icons";
import { boardAt, pastValues, type BoardRow } from "@/run/board";
import type { RunModel } from "@/run/model";
import { valueText } from "@/run/words";
import { LongText } from "./LongText";
import "./Blackboard.css";

const LONGEST = 200; // characters of a value in its row
const SHORT = 30; // characters of a value that its row shows whole

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
      <li key={each.key} className={each.key === found ? "board-found" : undefined}>
        <button
          type="button"
          className="board-row"
          aria-expanded={isOpen}
          title={[each.type, each.description].filter(Boolean).join(": ")}
          onClick={() => setOpened(isOpen ? null : each.key)}
        >
          <span className="board-key truncate">{each.key}</span>
          <span className="truncate">
            {isChanged && (
              <>
                <span className="board-old">{valueText(each.before, 24)}</span> →{" "}
              </>
            )}
            <b>{valueText(each.value, LONGEST)}</b>
          </span>
        </button>
        {isOpen && (
          <KeyDetails model={model} at={at} row={each} onSelectTick={onSelectTick} onChange={onChange} />
        )}
      </li>
    );
  };
  return (
    <div className="board">
      <h2>{board.changed.length > 0 ? "Changed in this tick" : "Nothing changed in this tick"}</h2>
      {board.changed.length > 0 && (
        <ul className="board-changed" key={at}>
          {board.changed.map((each) => row(each, true))}
        </ul>
      )}
      {board.others.length > 0 && <h2>As before</h2>}
      <ul className="board-others">{board.others.map((each) => row(each, false))}</ul>
      {board.empty.length > 0 && (
        <>
          <button
            type="button"
            className="board-more"
            aria-expanded={showsEmpty}
            onClick={() => setShowsEmpty(!showsEmpty)}
          >
            {showsEmpty ? <ChevronDownIcon size={12} /> : <ChevronRightIcon size={12} />}
            {plural(board.empty.length, "key")} without a value yet
          </button>
          {showsEmpty && <ul className="board-others">{board.empty.map((each) => row(each, false))}</ul>}
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
    <div className="board-details">
      {(row.type || row.description) && (
        <p>
          {row.type && <code>{row.type}</code>} {row.description}
        </p>
      )}
      {whole.length > SHORT && <LongText>{whole}</LongText>}
      <ol>
        {past.map((each) => (
          <li key={each.at}>
            <button
              type="button"
              disabled={each.at < 0}
              aria-current={each.at === at ? "step" : undefined}
              onClick={() => onSelectTick(each.at)}
            >
              <span>{each.at < 0 ? "before" : `tick ${model.ticks[each.at]?.tick ?? ""}`}</span>
              <b className="truncate">{valueText(each.value, LONGEST)}</b>
            </button>
          </li>
        ))}
      </ol>
      {onChange && !row.isReadOnly && (
        <button type="button" className="board-change" onClick={() => onChange(row)}>
          Change the value…
        </button>
      )}
    </div>
  );
}
