import { useId } from "react";
import { Mark } from "@/parts/Mark";
import { number } from "@/parts/format";
import type { Draft, LimitsEditor } from "./editor";
import { afterKey, capOf, capText, readEntry, WORDS, type Bounds, type LimitName } from "./fields";
import { Slider } from "./Slider";
import "./LimitField.css";

interface LimitFieldProps {
  name: LimitName;
  bounds: Bounds;
  saved: number;
  draft: Draft | undefined;
  tree: string;
  editor: LimitsEditor;
}

/** One limit: what it is, its slider, its number, and what is to be said of its value. */
export function LimitField({ name, bounds, saved, draft, tree, editor }: LimitFieldProps) {
  const id = useId();
  const words = WORDS[name];
  const text = draft?.text ?? number(saved);
  const entry = readEntry(text, bounds);
  const value = entry.value ?? shown(text, saved, bounds);
  const cap = capOf(bounds);
  const problem = draft?.problem ?? "";
  const capped = capText(name, value, cap, tree);
  const commit = () => {
    editor.commit(name);
  };
  return (
    <div className="limit" role="group" aria-labelledby={`${id}-label`}>
      <div className="limit-words">
        <span className="limit-label" id={`${id}-label`}>
          <strong>{words.label}</strong> <code>{name}</code>
        </span>
        <p id={`${id}-text`}>{words.text}</p>
      </div>
      <Slider
        bounds={bounds}
        words={words}
        value={value}
        cap={cap}
        isWrong={problem !== ""}
        labelledBy={`${id}-label`}
        describedBy={`${id}-text ${id}-says`}
        onEdit={(to) => {
          editor.edit(name, String(to));
        }}
        onCommit={commit}
      />
      <span className={`limit-box${problem ? " limit-box-wrong" : ""}`}>
        <input
          type="text"
          inputMode="numeric"
          autoComplete="off"
          value={text}
          aria-label={`${words.label} (${name}), as a number`}
          aria-invalid={problem !== ""}
          aria-describedby={`${id}-says`}
          onFocus={(event) => {
            event.target.select();
          }}
          onChange={(event) => {
            editor.edit(name, event.target.value);
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter") commit();
            const isVertical = ["ArrowUp", "ArrowDown", "PageUp", "PageDown"].includes(event.key);
            const next = isVertical ? afterKey(event.key, value, bounds, words) : null;
            if (next === null) return;
            event.preventDefault();
            editor.edit(name, String(next));
          }}
          onBlur={commit}
        />
        {words.unit && <span aria-hidden="true">{words.unit}</span>}
      </span>
      <span className="limit-default">
        {value !== bounds.default && (
          <button
            type="button"
            aria-label={`${words.label}: default ${number(bounds.default)}`}
            onClick={() => {
              editor.choose(name, bounds.default);
            }}
          >
            Default {number(bounds.default)}
          </button>
        )}
      </span>
      <div className="limit-says" id={`${id}-says`} role={problem ? "alert" : undefined}>
        {problem ? (
          <span className="limit-problem">
            <Mark kind="error" size={12} label={null} />
            {problem}
          </span>
        ) : (
          capped && (
            <span className="limit-capped">
              <Mark kind="info" size={12} label={null} />
              {capped}
            </span>
          )
        )}
      </div>
    </div>
  );
}

/** Where the thumb stands while the number is wrong: at the end that was overstepped, or where it was. */
function shown(text: string, saved: number, { minimum, maximum }: Bounds): number {
  const typed = text.trim() === "" ? Number.NaN : Number(text.replaceAll(",", ""));
  return Number.isNaN(typed) ? saved : Math.min(maximum, Math.max(minimum, typed));
}
