/** Says that a run is paused, where and why, and has the buttons that let it go on. */
import { Button } from "@/parts/Button";
import { Mark } from "@/parts/Mark";
import type { RunModel } from "@/run/model";
import { valueText } from "@/run/words";
import { titleOf } from "@/run/words";
import type { Debugger } from "./useDebugger";

interface PausedStripProps {
  model: RunModel;
  it: Debugger;
  onForce: () => void;
}

export function PausedStrip({ model, it, onForce }: PausedStripProps) {
  const { state } = it;
  if (!state || state.state === "running" || state.state === "ended") return null;
  const isPaused = state.state === "paused";
  return (
    <section
      className="flex flex-none flex-wrap items-start gap-y-2 gap-x-2.5 py-2 px-4 border-b border-line bg-surface-2"
      role="status"
      aria-label="Debugger"
    >
      <Mark kind="paused" label={null} className="mt-1" />
      <div className="flex-[1_1_300px] min-w-0 wrap-anywhere [&_b]:font-strong">
        <p>
          {isPaused ? (
            <Where model={model} it={it} />
          ) : (
            <b>{state.state === "pausing" ? PAUSING : STEPPING}</b>
          )}
        </p>
        <p className="text-ink-3">
          {isPaused &&
            `${state.tick ? `Tick ${String(state.tick)} has ended. The work it requested has not started.` : "No node has been ticked yet."} The time limit stands still. If you close this page, the run continues after ${String(Math.round(state.lease_s ?? 0))} s.`}
        </p>
        <Pending state={state} model={model} />
      </div>
      <div className="flex flex-wrap gap-2">
        <Button size="small" disabled={!isPaused} onClick={onForce}>
          Force a result…
        </Button>
        <Button
          size="small"
          keys="F10"
          disabled={!isPaused || it.isBusy}
          onClick={() => it.send({ command: "step" })}
        >
          Step
        </Button>
        <Button
          variant="primary"
          size="small"
          disabled={it.isBusy}
          onClick={() => it.send({ command: "resume" })}
        >
          Resume
        </Button>
      </div>
    </section>
  );
}

const PAUSING = "Pausing after the next tick.";
const STEPPING = "Stepping: pauses again after the next tick.";

function Where({ model, it }: { model: RunModel; it: Debugger }) {
  const hit = it.state?.hit ?? null;
  const by = it.state?.by ?? null;
  if (hit === null)
    return (
      <>
        <b>Paused{by === null ? "" : ` by ${by}`}</b> after tick {it.state?.tick}
      </>
    );
  const node = hit.path === null ? undefined : model.nodes.find((each) => each.path === hit.path);
  const place = node && (
    <code>
      {node.file}:{node.line}
    </code>
  );
  switch (hit.kind) {
    case "start":
      return <b>Paused before the first tick</b>;
    case "condition":
      return (
        <>
          <b>Paused</b> because this became true: <code>{hit.expression}</code>
        </>
      );
    case "error":
      return (
        <>
          <b>Paused by an error in {titleOf(node)}</b> {place} {hit.error}
        </>
      );
    case "node":
      return (
        <>
          <b>Paused before {titleOf(node)}</b> {place}{" "}
          {hit.is_ahead ? "It runs in the next tick." : "Its work has not started."}
        </>
      );
  }
}

/** What the next tick gets. */
function Pending({ state, model }: { state: NonNullable<Debugger["state"]>; model: RunModel }) {
  const values = Object.entries(state.values);
  const results = Object.entries(state.results);
  if (values.length + results.length === 0) return null;
  const title = (path: string): string => titleOf(model.nodes.find((each) => each.path === path));
  return (
    <p className="[&>code]:mr-2 [&>code]:py-0 [&>code]:px-1.25 [&>code]:rounded-sm [&>code]:bg-warn-soft">
      Set for the next tick:{" "}
      {values.map(([key, value]) => (
        <code key={key}>
          {key} = {valueText(value, 60)}
        </code>
      ))}
      {results.map(([path, result]) => (
        <code key={path}>
          {title(path)} → {result}
        </code>
      ))}
    </p>
  );
}
