/** A sheet over the foot of a narrow screen, with three heights. */
import { useState, type PointerEvent, type ReactNode } from "react";
import "./BottomSheet.css";

const HEIGHTS = ["low", "half", "high"] as const;
const SHARES = [0.1, 0.42, 0.86]; // of the height of the page
const DRAGGED_PX = 6;

export function BottomSheet({ children }: { children: ReactNode }) {
  const [height, setHeight] = useState(1);
  const [from, setFrom] = useState<number | null>(null);
  const drop = (event: PointerEvent) => {
    if (from !== null && Math.abs(event.clientY - from) > DRAGGED_PX) {
      const share = 1 - event.clientY / window.innerHeight;
      const nearest = SHARES.map((each) => Math.abs(each - share));
      setHeight(nearest.indexOf(Math.min(...nearest)));
    } else setHeight((height + 1) % HEIGHTS.length);
    setFrom(null);
  };
  return (
    <section className={`bottom-sheet bottom-sheet-${HEIGHTS[height] ?? "half"}`} aria-label="Details">
      <button
        type="button"
        className="bottom-sheet-handle"
        aria-label={`Change the height: it is ${HEIGHTS[height] ?? "half"}`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setFrom(event.clientY);
        }}
        onPointerUp={drop}
        onKeyDown={(event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          setHeight((height + 1) % HEIGHTS.length);
        }}
      />
      <div className="bottom-sheet-body">{children}</div>
    </section>
  );
}
