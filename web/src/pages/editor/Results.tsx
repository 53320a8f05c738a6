import { useHasFeature } from "@/api/queries";
import { Tabs } from "@/parts/Tabs";

import { Behaviour } from "./panes/Behaviour";
import { Problems } from "./panes/Problems";
import { Replay } from "./panes/Replay";
import { Scenarios } from "./panes/Scenarios";
import { Remark } from "./panes/Trial";
import { Verify } from "./panes/Verify";
import type { Mistake } from "./types";
import { useSettled } from "./useSettled";

export type Pane = "problems" | "behaviour" | "scenarios" | "verify" | "rules" | "replay";

/** A trial starts a process of the service: it waits until the text has rested for a while. */
const TRIAL_PAUSE_MS = 1_200;

interface ResultsProps {
  name: string;
  text: string;
  /** Errors first; null while the text has not been checked at all. */
  problems: readonly Mistake[] | null;
  checkSeconds: number | null;
  isChecked: boolean;
  /** The tree does not exist yet; what recorded queries and scenarios say of it cannot be known. */
  isNew: boolean;
  /** The trees in which it can be verified: itself, or for a part those that include it. */
  explored: readonly string[];
  current: Mistake | null;
  /** The run that the address asks to replay. */
  replayed: string | null;
  pane: Pane;
  onPane: (pane: Pane) => void;
  /** Of the cursor. */
  line: number;
  onLine: (line: number) => void;
  onGoTo: (mistake: Mistake) => void;
  onFix: (mistake: Mistake, fix: number) => void;
}

/** What the service says about the text: its problems, then what it would change. */
export function Results(props: ResultsProps) {
  const { name, text, problems, isChecked, isNew, explored, pane, onPane } = props;
  const hasBehaviour = useHasFeature("explaining");
  const hasScenarios = useHasFeature("scenarios");
  const hasVerifier = useHasFeature("verifier");
  const settled = useSettled(text, TRIAL_PAUSE_MS);
  const errors = problems?.filter((each) => each.severity === "error").length ?? 0;
  const isRight = isChecked && errors === 0 && !isNew;
  const trial = { name, text: settled, isReady: isRight && settled === text };
  const waiting = isNew ? "Save the tree once to try this." : WAITING;
  const shown = errors > 0 || isNew ? <Remark>{waiting}</Remark> : null;
  return (
    <aside
      className="[&_.tab]:py-0 [&_.tab]:px-1.5 [&_li]:list-none [&_pre]:p-2 [&_pre]:overflow-auto [&_pre]:rounded-sm [&_pre]:bg-surface-2 [&_pre]:text-xs [&_pre]:leading-tight flex flex-col min-w-0 min-h-0 border-l border-line max-narrow:hidden"
      aria-label="Results"
    >
      <Tabs<Pane>
        label="Results"
        selected={pane}
        onSelect={onPane}
        tabs={[
          {
            name: "problems",
            label: "Problems",
            count: problems?.length,
            panel: <Problems {...props} errors={errors} />,
          },
          ...(hasBehaviour
            ? [
                {
                  name: "behaviour" as const,
                  label: "Behaviour",
                  panel: shown ?? (
                    <Behaviour {...trial} explored={explored} line={props.line} onLine={props.onLine} />
                  ),
                },
              ]
            : []),
          ...(hasScenarios
            ? [{ name: "scenarios" as const, label: "Scenarios", panel: shown ?? <Scenarios {...trial} /> }]
            : []),
          ...(hasVerifier
            ? [
                {
                  name: "verify" as const,
                  label: "Verify",
                  panel: shown ?? <Verify {...trial} explored={explored} onlyRules={false} />,
                },
                {
                  name: "rules" as const,
                  label: "Rules",
                  panel: shown ?? <Verify {...trial} explored={explored} onlyRules />,
                },
              ]
            : []),
          { name: "replay", label: "Replay", panel: shown ?? <Replay {...trial} wanted={props.replayed} /> },
        ]}
      />
    </aside>
  );
}

const WAITING = "Fix the mistakes to run trials. The version in use is unchanged.";
