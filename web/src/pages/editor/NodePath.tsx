import { Fragment } from "react";

import { plural } from "@/parts/format";

import type { Step } from "./source/outline";

interface NodePathProps {
  path: readonly Step[];
  /** How many runs the counts behind the lines are of; 0: there are none. */
  runs: number;
  onStep: (line: number) => void;
}

const PATH =
  "flex flex-none items-center gap-1.5 h-8 px-3 overflow-hidden border-b border-line text-ink-3 text-sm";
const STEP =
  "p-0 border-0 bg-transparent hover:text-ink hover:underline aria-[current]:text-ink aria-[current]:font-strong";

/** The nodes around the cursor, from the root on; each leads to its line. */
export function NodePath({ path, runs, onStep }: NodePathProps) {
  return (
    <nav className={`${PATH} whitespace-nowrap`} aria-label="Node at the cursor">
      {path.map((step, at) => (
        <Fragment key={step.line}>
          {at > 0 && <span aria-hidden="true">›</span>}
          <button
            type="button"
            className={STEP}
            aria-current={at === path.length - 1 ? "location" : undefined}
            onClick={() => onStep(step.line)}
          >
            {step.label}
          </button>
        </Fragment>
      ))}
      {runs > 0 && (
        <span className="ml-auto pl-4 text-xs">
          answers in the last {plural(runs, "run")}: <b className="text-ok">yes</b> /{" "}
          <b className="text-fail">no</b>
        </span>
      )}
    </nav>
  );
}
