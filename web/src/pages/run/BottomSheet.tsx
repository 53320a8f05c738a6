/** A sheet over the foot of a narrow screen, with three heights. */
import { useState, type PointerEvent, type ReactNode } from "react";

const HEIGHTS = ["low", "half", "high"] as const;
const LOOKS = ["bottom-sheet-low h-15", "h-[42%]", "h-[88%]"];
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
    <section
      className={`bottom-sheet absolute z-5 inset-x-0 bottom-0 flex flex-col border-t border-line-2 rounded-t-[14px] bg-surface shadow-overlay transition-[height] duration-(--slow) ease-(--ease) ${LOOKS[height] ?? ""}`}
      aria-label="Details"
    >
      <button
        type="button"
        className="flex-none h-5 p-0 border-0 bg-transparent touch-none pointer-coarse:h-8 before:block before:w-9 before:h-1 before:mx-auto before:rounded-[2px] before:bg-line-2"
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
      <div className="flex flex-1 flex-col min-h-0">{children}</div>
    </section>
  );
}
