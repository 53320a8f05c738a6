import { Fragment } from "react";

import { plural } from "@/parts/format";

import type { Step } from "./source/outline";

interface NodePathProps {
  path: readonly Step[];
  /** How many runs the counts behind the lines are of; 0: there are none. */
  runs: number;
  onStep: (line: number) => void;
}

/** The nodes around the cursor, from the root on; each leads to its line. */
export function NodePath({ path, runs, onStep }: NodePathProps) {
  return (
    <nav className="node-path" aria-label="Node at the cursor">
      {path.map((step, at) => (
        <Fragment key={step.line}>
          {at > 0 && <span aria-hidden="true">›</span>}
          <button
            type="button"
            aria-current={at === path.length - 1 ? "location" : undefined}
            onClick={() => onStep(step.line)}
          >
            {step.label}
          </button>
        </Fragment>
      ))}
      {runs > 0 && (
        <span className="node-path-answers">
          answers in the last {plural(runs, "run")}: <b className="node-path-yes">yes</b> /{" "}
          <b className="node-path-no">no</b>
        </span>
      )}
    </nav>
  );
}
