/** Why the tick went as it did: from the root to the decision, a sentence and a place each. */
import { memo, useLayoutEffect, useRef } from "react";
import { Mark } from "@/parts/Mark";
import { Skeleton } from "@/parts/Skeleton";
import type { StepFacts } from "@/run/facts";
import type { RunModel } from "@/run/model";
import { placeOf } from "@/run/words";
import { markKind } from "@/source";

const EDGE_PX = 8;

interface WhyProps {
  model: RunModel;
  at: number;
  /** Of the model: the pane is drawn again when it has changed. */
  version: number;
  onNode: (node: number) => void;
}

export const Why = memo(function Why({ model, at, onNode }: WhyProps) {
  const steps = model.why(at);
  const list = useRef<HTMLOListElement>(null);
  const count = steps?.length ?? 0;
  useLayoutEffect(() => {
    if (count > 0) showDecision(list.current);
  }, [at, count]);
  if (steps === undefined && model.problem === "") return <Skeleton label="Loading the reasons" />;
  if (steps === undefined || steps.length === 0)
    return <p className="py-3 px-4 text-ink-3">{reasonsMissing(model, at)}</p>;
  return (
    <ol ref={list} className="why pt-2 px-1 pb-3 list-none">
      {steps.map((step, index) => {
        const node = model.nodes[step.node];
        return (
          <li key={index} className="group">
            <button
              type="button"
              className="relative grid grid-cols-[12px_minmax(0,1fr)_auto] gap-x-3 w-full py-1.25 px-3 border-0 rounded-md bg-transparent text-left hover:bg-surface-2 group-not-last:after:absolute group-not-last:after:top-6.5 group-not-last:after:-bottom-1.5 group-not-last:after:left-4.25 group-not-last:after:w-0.5 group-not-last:after:bg-line-2"
              aria-current={step.decides ? "step" : undefined}
              onClick={() => onNode(step.node)}
            >
              <Mark kind={markKind(model.mark(step.node, at))} className="mt-1 z-1" />
              <span
                className={`wrap-anywhere [&>b]:text-ink [&>b]:font-strong [&>code]:text-ink ${step.decides ? "text-ink" : "text-ink-2"}`}
              >
                {step.pieces.map(pieceOf)}
              </span>
              {node && (
                <code
                  className="max-w-31 text-ink-3 leading-normal truncate"
                  title={`${node.file}:${node.line}`}
                >
                  {placeOf(node)}
                </code>
              )}
            </button>
          </li>
        );
      })}
    </ol>
  );
});

/** Where the steps have no room for all of them, the last ones up to the decision are in view. */
function showDecision(list: HTMLElement | null): void {
  const box = list?.closest(".panes-why-steps, .tabs-panel");
  const decision = list?.querySelector("[aria-current]");
  if (!box || !decision) return;
  box.scrollTop = 0;
  const hidden = decision.getBoundingClientRect().bottom + EDGE_PX - box.getBoundingClientRect().bottom;
  if (hidden > 0) box.scrollTop = hidden;
}

function pieceOf(piece: StepFacts["pieces"][number], index: number) {
  if (piece.kind === "name") return <b key={index}>{piece.text}</b>;
  if (piece.kind === "code") return <code key={index}>{piece.text}</code>;
  return <span key={index}>{piece.text}</span>;
}

function reasonsMissing(model: RunModel, at: number): string {
  const tick = model.ticks[at];
  if (tick === undefined) return "There is no tick yet.";
  if (model.problem !== "") return `The reasons for this tick are not known: ${model.problem}.`;
  return "No node decided this tick.";
}
