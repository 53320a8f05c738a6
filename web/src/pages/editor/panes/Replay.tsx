import { useQuery } from "@tanstack/react-query";
import { Fragment, useState } from "react";

import { Button, LinkButton } from "@/parts/Button";
import { duration, plural } from "@/parts/format";
import { Problem } from "@/parts/Problem";
import { valueText } from "@/run/words";

import { trials } from "../calls";
import type { ReplayDifference, ReplayedRun } from "../types";
import { Matrix } from "./Matrix";
import { consequence, headline, outcomeOf, summary, tokensSaved } from "./replays";
import { Remark, TrialResult, type TrialProps } from "./Trial";

interface ReplayProps extends TrialProps {
  /** A run that is to be replayed first. */
  wanted: string | null;
}

/** The last queries, replayed with the text in place: where the first one parts, and what becomes of all. */
export function Replay({ name, text, isReady, wanted }: ReplayProps) {
  const [selected, select] = useState(wanted);
  const asked = useQuery({ ...trials.replay(name, text, wanted), enabled: isReady && wanted !== null });
  const isAnswered = wanted === null || asked.data !== undefined || asked.error !== null;
  const replayed = useQuery({ ...trials.replay(name, text), enabled: isReady && isAnswered });
  const first = asked.data?.result.runs ?? NO_RUNS;
  if (first.length > 0 && !replayed.data && !replayed.error) {
    return (
      <div className="grid gap-4 justify-items-start py-3 px-4">
        {first.map((run) => (
          <ReplayedRunView key={run.run_id} run={run} name={name} />
        ))}
        <Remark role="status">Replaying the last runs…</Remark>
      </div>
    );
  }
  return (
    <TrialResult query={replayed} isReady={isReady} busy="Replaying the last runs">
      {({ result: { runs }, seconds }) => {
        const shown =
          [...runs, ...first].find((run) => run.run_id === selected) ??
          runs.find((run) => outcomeOf(run) === "differs") ??
          runs[0];
        if (!shown) return <Remark>No run of a tree that uses this file is recorded yet.</Remark>;
        return (
          <div className="grid gap-4 justify-items-start py-3 px-4">
            {wanted !== null && asked.error && (
              <Problem tone="plain" title={`The run ${wanted.slice(0, 8)} cannot be replayed.`}>
                {asked.error.message}
              </Problem>
            )}
            <ReplayedRunView run={shown} name={name} />
            <section className="w-full">
              <h3 className="text-ink-2">Last {plural(runs.length, "run")} of trees that use this file</h3>
              <ol className="flex flex-wrap gap-[3px] py-2">
                {runs.map((run, at) => (
                  <li key={run.run_id}>
                    <button
                      type="button"
                      className={`${CELL} ${SELECTED} ${CELL_FILLS[outcomeOf(run)]}`}
                      aria-pressed={run === shown}
                      aria-label={`run ${at + 1}, ${run.run_id.slice(0, 8)}: ${headline(run)}`}
                      title={`${run.run_id.slice(0, 8)}: ${headline(run)}`}
                      onClick={() => select(run.run_id)}
                    />
                  </li>
                ))}
              </ol>
              <p className="text-ink-3">
                {[summary(runs), tokensSaved(runs)].filter(Boolean).join(" ")} No model is asked: outcomes
                come from the records. Replayed in {duration(seconds)}.
              </p>
            </section>
            <Button size="small" onClick={() => void replayed.refetch()}>
              Replay again
            </Button>
          </div>
        );
      }}
    </TrialResult>
  );
}

const CELL =
  "grid place-items-center size-6 p-0 border-0 rounded-sm bg-transparent before:size-3.5 before:rounded-sm";
const SELECTED = "aria-pressed:outline aria-pressed:outline-ink aria-pressed:-outline-offset-2";
const CELL_FILLS = {
  same: "before:bg-surface-3",
  differs: "before:border-2 before:border-warn-fill before:bg-warn-soft",
  unknown: "before:border before:border-dashed before:border-line-3",
};
const VERDICTS = {
  same: "border-line-2 bg-surface-2",
  differs: "border-warn-line border-l-warn-fill bg-warn-soft",
  unknown: "border-line-2 bg-surface-2",
};

const NO_RUNS: readonly ReplayedRun[] = [];

/** One query: the sentence on it, where it parts, and the way to the run. */
function ReplayedRunView({ run, name }: { run: ReplayedRun; name: string }) {
  const { difference } = run;
  const after = consequence(run);
  return (
    <section className="w-full">
      <p className="mb-2 text-ink-3">
        <code className="text-ink-2">{run.run_id.slice(0, 8)}</code> {run.question ?? run.tree}
      </p>
      <div
        className={`py-2 px-3 border border-l-4 rounded-md wrap-anywhere ${VERDICTS[outcomeOf(run)]}`}
        role="status"
      >
        <b>{headline(run)}</b>
        {difference?.file && <Where difference={difference} name={name} />}
        {difference?.old && <p>Now: {difference.old}</p>}
        {difference?.new && <p>With your edit: {difference.new}</p>}
        {after && <p>{after}</p>}
        {run.unknown && <p>{run.unknown}</p>}
      </div>
      {difference && run.tracks.length > 0 && (
        <>
          <Matrix title="As recorded" tracks={run.tracks} side="old" tick={difference.tick} />
          <Matrix title="With your edit" tracks={run.tracks} side="new" tick={difference.tick} />
        </>
      )}
      <div className="flex gap-2 mt-3">
        <LinkButton href={`/runs/${run.run_id}${difference ? `?tick=${difference.tick}` : ""}`}>
          {difference ? `Open tick ${difference.tick}` : "Open the run"}
        </LinkButton>
      </div>
    </section>
  );
}

/** The node that makes the difference; of a condition also what it answers, and from which values. */
function Where({ difference, name }: { difference: ReplayDifference; name: string }) {
  const { file, line, answer } = difference;
  const where = `${file === `${name}.yaml` ? "Line" : `${file}, line`} ${line}`;
  if (!answer) {
    const node = difference.path.split("/").at(-1);
    return (
      <p>
        {where}
        {difference.in === "old" ? " of the saved version" : ""}: <code>{node}</code>
      </p>
    );
  }
  return (
    <p>
      {where} is now {answer.yes ? "yes" : "no"}: <code>{answer.text}</code>
      {answer.operands.map((operand, at) => (
        <Fragment key={operand.name}>
          {at === 0 ? ", with " : ", "}
          {operand.name} <b>{valueText(operand.value, 60)}</b>
        </Fragment>
      ))}
      .
    </p>
  );
}
