/** The run of an exported page, whose whole history lies in the file. */
import type { HistoryPage } from "@/run/facts";
import { RunModel } from "@/run/model";

interface Embedded {
  readonly history: Omit<HistoryPage, "next" | "unexplained_from">;
  /** The number of the tick that is shown first. */
  readonly tick: number | null;
}

export interface EmbeddedRun {
  readonly model: RunModel;
  /** Have the model take again what explains a tick, of which it keeps that of the latest ones. */
  readonly explain: (at: number) => void;
  readonly tick: number | null;
}

export function embeddedRun(text: string): EmbeddedRun {
  const { history, tick } = JSON.parse(text) as Embedded;
  const page = { ...history, unexplained_from: null, next: null };
  const model = new RunModel(page);
  model.isComplete = true; // nothing more comes, also of a run that was under way
  return {
    model,
    explain: (at) => model.take({ ...page, ticks: page.ticks.slice(at, at + 1) }),
    tick,
  };
}
