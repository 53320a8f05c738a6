import { useId } from "react";
import { number } from "@/parts/format";
import { afterKey, onStep, type Bounds, type Cap, type LimitWords } from "./fields";
import "./Slider.css";

const END = "text-ink-3 text-xs max-narrow:hidden";
const TRACK = "top-3 h-1 rounded-[2px] pointer-coarse:top-5";
const HATCHED = "bg-[repeating-linear-gradient(-55deg,var(--line-3)_0_2px,var(--surface-3)_2px_5px)]";
const HATCHED_CAPPED =
  "bg-[repeating-linear-gradient(-55deg,var(--warn-fill)_0_2px,var(--warn-soft)_2px_5px)]";

interface SliderProps {
  bounds: Bounds;
  words: LimitWords;
  value: number;
  /** Beyond it the track is hatched: the value may be chosen, and does not count. */
  cap: Cap | null;
  isWrong: boolean;
  labelledBy: string;
  describedBy: string;
  onEdit: (value: number) => void;
  /** The gesture has ended. */
  onCommit: () => void;
}

/** The browser's own slider, so that touch and screen readers work as everywhere; the track below it is drawn here. */
export function Slider(props: SliderProps) {
  const { bounds, words, value, cap, isWrong, labelledBy, describedBy, onEdit, onCommit } = props;
  const { minimum, maximum } = bounds;
  const id = useId();
  const share = (of: number) => (Math.min(maximum, Math.max(minimum, of)) - minimum) / (maximum - minimum);
  const filled = cap === null ? value : Math.min(value, cap.limit);
  const isCapped = cap !== null && value > cap.limit;
  return (
    <div
      className={`slider grid grid-cols-[42px_minmax(80px,1fr)_54px] items-center gap-2 h-7 pointer-coarse:h-11 max-narrow:col-[1] max-narrow:grid-cols-[1fr] ${isWrong ? "slider-wrong" : ""}`}
    >
      <span className={`${END} text-right`} aria-hidden="true">
        {number(minimum)}
      </span>
      <div className="relative h-7 pointer-coarse:h-11 [&>i]:absolute [&>i]:pointer-events-none">
        <i className={`${TRACK} inset-x-0 bg-surface-3`} />
        <i className={`${TRACK} left-0 bg-ink`} style={{ width: at(share(filled)) }} />
        {cap !== null && (
          <>
            <i
              className={`${TRACK} right-0 ${isCapped ? HATCHED_CAPPED : HATCHED}`}
              style={{ left: at(share(cap.limit)) }}
            />
            <i
              className={`top-1.75 w-0.5 h-3.5 -ml-px pointer-coarse:top-3.75 ${isCapped ? "bg-warn-fill" : "bg-line-3"}`}
              style={{ left: at(share(cap.limit)) }}
            />
          </>
        )}
        <i
          className="top-5 w-px h-1.25 bg-line-3 pointer-coarse:top-7"
          style={{ left: at(share(bounds.default)) }}
        />
        <input
          id={id}
          type="range"
          className="absolute inset-0 w-full h-7 m-0 bg-transparent appearance-none cursor-pointer focus-visible:outline-none pointer-coarse:h-11"
          min={minimum}
          max={maximum}
          step="any"
          value={value}
          aria-labelledby={labelledBy}
          aria-describedby={describedBy}
          aria-valuetext={`${number(value)} ${words.counted}`}
          onChange={(event) => onEdit(onStep(event.target.valueAsNumber, bounds, words.step))}
          onKeyDown={(event) => {
            const next = afterKey(event.key, value, bounds, words);
            if (event.key === "Enter") onCommit();
            if (next === null || event.metaKey || event.ctrlKey || event.altKey) return;
            event.preventDefault();
            if (next !== value) onEdit(next);
          }}
          onPointerUp={onCommit}
          onBlur={onCommit}
        />
      </div>
      <span className={END} aria-hidden="true">
        {number(maximum)}
      </span>
    </div>
  );
}

/** Where the middle of the thumb is at a share of the track; the thumb does not leave the track. */
const at = (share: number): string => `calc(8px + (100% - 16px) * ${share.toFixed(4)})`;
