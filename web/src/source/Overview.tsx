/** The whole run in true time: the model, tools, notices, and how near the limits were. */
import { useRef } from "react";
import { Canvas } from "./Canvas";
import { drawOverview, nearestTick, timeScale } from "./drawOverview";
import type { OverviewProps } from "./interface";
import { usePalette } from "./palette";
import { useRunClock } from "./useRunClock";
import { useRunVersion } from "./useRunVersion";
import { useScrub } from "./useScrub";
import { useSize } from "./useSize";

export function Overview({ model, at, onSelectTick, window = null }: OverviewProps) {
  useRunVersion(model);
  const palette = usePalette();
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const now = useRunClock(model);
  const scale = timeScale(model, width, now);
  const scrub = useScrub((x) => (model.ticks.length === 0 ? -1 : nearestTick(model, scale, x)), onSelectTick);
  const tick = model.ticks[at];
  const last = model.lastTick;
  const go = (to: number): void => onSelectTick(Math.max(0, Math.min(model.ticks.length - 1, to)));
  const keys: Record<string, () => void> = {
    ArrowLeft: () => go(at - 1),
    ArrowRight: () => go(at + 1),
    Home: () => go(0),
    End: () => go(model.ticks.length - 1),
  };
  return (
    <div
      ref={box}
      className="overview relative size-full overflow-hidden bg-surface cursor-ew-resize touch-pan-y focus-visible:-outline-offset-2 [&>canvas]:absolute [&>canvas]:inset-0 [&>canvas]:block"
      role="slider"
      tabIndex={0}
      aria-label="Tick"
      aria-orientation="horizontal"
      aria-valuemin={model.ticks[0]?.tick ?? 0}
      aria-valuemax={last}
      aria-valuenow={tick?.tick ?? 0}
      aria-valuetext={tick === undefined ? "no tick yet" : `tick ${tick.tick} of ${last}, turn ${tick.turn}`}
      onKeyDown={(event) => {
        const act = event.shiftKey ? undefined : keys[event.key];
        if (act === undefined) return;
        event.preventDefault();
        act();
      }}
      {...scrub}
    >
      {width > 0 && (
        <Canvas
          width={width}
          height={height}
          draw={(pen) => drawOverview(pen, { model, palette, scale, at, window, width, height, now })}
        />
      )}
    </div>
  );
}
