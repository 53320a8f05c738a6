import { useEffect, useState } from "react";
import type { RunModel } from "@/run/model";

const STEP_MS = 100;

/**
 * Seconds of the clock of a run that is under way, so that its bars grow; of one that has ended, or for readers who want
 * less motion, those of its last tick.
 */
export function useRunClock(model: RunModel): number {
  const last = model.ticks.at(-1)?.at_s ?? 0;
  const isRunning = model.run.status === "running" && !model.isComplete && model.waiting.length === 0;
  const [passed, setPassed] = useState({ since: last, seconds: 0 });
  useEffect(() => {
    if (!isRunning || matchMedia("(prefers-reduced-motion: reduce)").matches) return undefined;
    const begun = performance.now();
    let frame = 0;
    let drawn = begun;
    const step = (time: number): void => {
      frame = requestAnimationFrame(step);
      if (time - drawn < STEP_MS) return;
      drawn = time;
      setPassed({ since: last, seconds: (time - begun) / 1000 });
    };
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }, [isRunning, last]);
  return isRunning && passed.since === last ? last + passed.seconds : last;
}
