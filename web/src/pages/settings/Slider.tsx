import { useId } from "react";
import { number } from "@/parts/format";
import { afterKey, onStep, type Bounds, type Cap, type LimitWords } from "./fields";
import "./Slider.css";

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
    <div className={`slider${isWrong ? " slider-wrong" : ""}${isCapped ? " slider-capped" : ""}`}>
      <span className="slider-end slider-least" aria-hidden="true">
        {number(minimum)}
      </span>
      <div className="slider-track">
        <i className="slider-rest" />
        <i className="slider-filled" style={{ width: at(share(filled)) }} />
        {cap !== null && (
          <>
            <i className="slider-beyond" style={{ left: at(share(cap.limit)) }} />
            <i className="slider-cap" style={{ left: at(share(cap.limit)) }} />
          </>
        )}
        <i className="slider-default" style={{ left: at(share(bounds.default)) }} />
        <input
          id={id}
          type="range"
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
      <span className="slider-end" aria-hidden="true">
        {number(maximum)}
      </span>
    </div>
  );
}

/** Where the middle of the thumb is at a share of the track; the thumb does not leave the track. */
const at = (share: number): string => `calc(8px + (100% - 16px) * ${share.toFixed(4)})`;
