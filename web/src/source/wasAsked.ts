import { Mark } from "@/run/marks";
import type { RunModel } from "@/run/model";

const LONGEST_LOOK = 100; // ticks

/** Whether a node was asked in an earlier tick of the turn that a tick belongs to. */
export function wasAsked(model: RunModel, node: number, at: number): boolean {
  const turn = model.ticks[at]?.turn;
  for (let before = at - 1; before >= Math.max(0, at - LONGEST_LOOK); before--) {
    if (model.ticks[before]?.turn !== turn) return false;
    if (model.mark(node, before) !== Mark.notAsked) return true;
  }
  return false;
}
