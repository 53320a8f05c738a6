import { useId } from "react";
import { Mark } from "@/parts/Mark";
import { number } from "@/parts/format";
import type { Draft, LimitsEditor } from "./editor";
import { afterKey, capOf, capText, readEntry, WORDS, type Bounds, type LimitName } from "./fields";
import { Slider } from "./Slider";

interface LimitFieldProps {
  name: LimitName;
  bounds: Bounds;
  saved: number;
  draft: Draft | undefined;
  tree: string;
  editor: LimitsEditor;
}

const ROW =
  "grid grid-cols-[minmax(180px,274px)_minmax(220px,1fr)_84px_92px] gap-x-2.5 items-center py-[11px]";
const NARROW_ROW = "max-narrow:grid-cols-[1fr_92px] max-narrow:gap-y-1";

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
  const commit = () => editor.commit(name);
  return (
    <div
      className={`limit [.limit+&]:border-t border-line ${ROW} ${NARROW_ROW}`}
      role="group"
      aria-labelledby={`${id}-label`}
    >
      <div className="self-start pr-2 max-narrow:col-span-full max-narrow:pl-0">
        <span id={`${id}-label`} className="flex flex-wrap items-baseline gap-x-2">
          <strong className="font-strong">{words.label}</strong>{" "}
          <code className="text-ink-3 text-xs">{name}</code>
        </span>
        <p id={`${id}-text`} className="text-ink-3 text-sm leading-tight">
          {words.text}
        </p>
      </div>
      <Slider
        bounds={bounds}
        words={words}
        value={value}
        cap={cap}
        isWrong={problem !== ""}
        labelledBy={`${id}-label`}
        describedBy={`${id}-text ${id}-says`}
        onEdit={(to) => editor.edit(name, String(to))}
        onCommit={commit}
      />
      <span className={`field h-7 pr-2 text-ink-3 max-narrow:h-11 ${problem ? "border-err-fill" : ""}`}>
        <input
          type="text"
          className="py-0 pr-1 pl-2 text-ink font-medium text-right"
          inputMode="numeric"
          autoComplete="off"
          value={text}
          aria-label={`${words.label} (${name}), as a number`}
          aria-invalid={problem !== ""}
          aria-describedby={`${id}-says`}
          onFocus={(event) => event.target.select()}
          onChange={(event) => editor.edit(name, event.target.value)}
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
      <span className="max-narrow:col-span-full max-narrow:empty:hidden">
        {value !== bounds.default && (
          <button
            type="button"
            className="text-button text-ink-3 whitespace-nowrap hover:text-ink"
            aria-label={`${words.label}: default ${number(bounds.default)}`}
            onClick={() => editor.choose(name, bounds.default)}
          >
            Default {number(bounds.default)}
          </button>
        )}
      </span>
      <div
        className="col-[2/-1] pl-13.5 text-sm leading-normal empty:hidden max-narrow:col-span-full max-narrow:pl-0"
        id={`${id}-says`}
        role={problem ? "alert" : undefined}
      >
        {problem ? (
          <span className="inline-flex items-baseline gap-1.5 text-err">
            <Mark kind="error" size={12} className="self-center" label={null} />
            {problem}
          </span>
        ) : (
          capped && (
            <span className="inline-flex items-baseline gap-1.5 text-warn">
              <Mark kind="info" size={12} className="self-center" label={null} />
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
