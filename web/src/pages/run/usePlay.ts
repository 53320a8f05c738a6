import { useEffect, useState } from "react";
import type { RunModel } from "@/run/model";
import { playedMs } from "@/run/moves";

/** Plays a run from the tick that is shown to its last one, each for the time that it took, within bounds. */
export function usePlay(model: RunModel, at: number, go: (at: number) => void) {
  const [wants, setWants] = useState(false);
  const isPlaying = wants && at < model.ticks.length - 1;
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setTimeout(() => go(at + 1), playedMs(model, at));
    return () => clearTimeout(timer);
  });
  const toggle = () => {
    if (!isPlaying && at >= model.ticks.length - 1) go(0);
    setWants(!isPlaying);
  };
  return { isPlaying, toggle };
}
