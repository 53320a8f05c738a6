import { useEffect } from "react";
import type { RunModel } from "@/run/model";

/** Has what explains a tick loaded; -1 for none. */
export function useExplained(model: RunModel, at: number, explain: (at: number) => void): void {
  const isExplained = model.visits(at) !== undefined;
  useEffect(() => {
    if (!isExplained && at >= 0) explain(at);
  }, [at, isExplained, explain]);
}
