/** The tree of the run beside the chat: it follows the ticks as they come. */
import { useEffect, useRef, useState } from "react";
import { Badge } from "@/parts/Badge";
import { Button, LinkButton } from "@/parts/Button";
import { duration } from "@/parts/format";
import { CloseIcon } from "@/parts/icons";
import { Problem } from "@/parts/Problem";
import { Segmented } from "@/parts/Segmented";
import { Skeleton } from "@/parts/Skeleton";
import type { RunModel } from "@/run/model";
import { firstShown, headlineParts } from "@/run/moves";
import { Overview, SourceView, useExplained, useRunVersion, type SourceHandle } from "@/source";
import type { Debugger } from "@/source/debug/useDebugger";
import { useDebugging } from "@/source/debug/useDebugging";
import { useRun, type LoadedRun } from "@/source/useRun";
import { useKeys } from "@/store/keys";
import "./TreePanel.css";

interface TreePanelProps {
  runId: string;
  /** Told the turn that is under way. */
  onTurn: (turn: number) => void;
  onClose: () => void;
}

export function TreePanel({ runId, onTurn, onClose }: TreePanelProps) {
  const loaded = useRun(runId);
  const { model, state } = loaded;
  return (
    <section className="tree-panel" aria-label="Tree of the run">
      {model ? (
        <LiveTree model={model} loaded={loaded} onTurn={onTurn} onClose={onClose} />
      ) : (
        <>
          <div className="tree-panel-head">
            <span className="tree-panel-space" />
            <CloseButton onClose={onClose} />
          </div>
          {state === "failed" ? (
            <Problem tone="plain" title="The tree of this run could not be read." />
          ) : (
            <Skeleton label="Loading the tree" />
          )}
        </>
      )}
    </section>
  );
}

function CloseButton({ onClose }: { onClose: () => void }) {
  return <Button variant="ghost" icon={<CloseIcon />} aria-label="Hide the tree" onClick={onClose} />;
}

const ENDED = { tone: "plain", mark: null, children: "Ended" } as const;
const PAUSED = { tone: "plain", mark: "breakpoint", children: "Paused" } as const;
const LIVE = { tone: "run", children: "Live" } as const;

interface LiveTreeProps extends Omit<TreePanelProps, "runId"> {
  model: RunModel;
  loaded: LoadedRun;
}

function LiveTree({ model, loaded, onTurn, onClose }: LiveTreeProps) {
  useRunVersion(model);
  const [chosen, setChosen] = useState<number | null>(null);
  const [row, setRow] = useState<number | null>(null);
  const last = model.ticks.length - 1;
  const at = chosen === null ? firstShown(model, null) : Math.min(chosen, last);
  const isLive = !model.isComplete;
  const turn = model.ticks[last]?.turn ?? 0;
  useEffect(() => {
    onTurn(turn);
  }, [turn, onTurn]);
  useExplained(model, chosen === null && isLive ? last : at, loaded.explain);
  const source = useRef<SourceHandle>(null);
  const debugging = useDebugging(model, at, () => source.current?.selectedNode() ?? null);
  useKeys(debugging.keys);
  return (
    <>
      <div className="tree-panel-head">
        <span className="mono truncate">{model.run.tree}.yaml</span>
        <span className="mono tree-panel-version">{model.run.tree_version?.slice(0, 7)}</span>
        <Badge {...(!isLive ? ENDED : debugging.isPaused ? PAUSED : LIVE)} />
        <span className="tree-panel-space" />
        {isLive && (
          <Steering
            steering={debugging.steering}
            isFollowing={chosen === null}
            onFollow={() => setChosen(null)}
          />
        )}
        <LinkButton href={`/runs/${model.run.id}`}>Open the run</LinkButton>
        <CloseButton onClose={onClose} />
      </div>
      {debugging.strip}
      <div className="tree-panel-overview">
        <Overview model={model} at={at} onSelectTick={setChosen} />
      </div>
      <Headline model={model} at={at} />
      <div className="tree-panel-source">
        <SourceView
          ref={source}
          model={model}
          at={at}
          onSelectTick={setChosen}
          follow
          axis="equal"
          selectedRow={row}
          onSelectRow={setRow}
          live={isLive && chosen === null}
          pausedAt={debugging.pausedAt}
          {...(debugging.breakpoints && { breakpoints: debugging.breakpoints })}
          {...(debugging.onToggleBreakpoint && { onToggleBreakpoint: debugging.onToggleBreakpoint })}
        />
      </div>
      {debugging.dialogs}
    </>
  );
}

/** The announcer of the chat says what happens; this is for the eye. */
function Headline({ model, at }: { model: RunModel; at: number }) {
  const tick = model.ticks[at];
  if (!tick) return <p className="tree-panel-headline">Waiting for the first tick.</p>;
  const [first, rest] = headlineParts(model.headline(at));
  return (
    <p className="tree-panel-headline">
      <b>Tick {tick.tick}</b>
      <span>
        {" "}
        · turn {tick.turn} · {duration(tick.at_s)}
      </span>
      <b className="tree-panel-first">{first}</b> {rest}
    </p>
  );
}

interface SteeringProps {
  /** Null where runs cannot be debugged. */
  steering: Debugger | null;
  isFollowing: boolean;
  onFollow: () => void;
}

/** Follow the last tick; where runs can be debugged also pause and step. */
function Steering({ steering, isFollowing, onFollow }: SteeringProps) {
  if (steering === null) return isFollowing ? null : <Button onClick={onFollow}>Follow</Button>;
  const { isPaused, isBusy, send } = steering;
  return (
    <Segmented
      label="Ticks"
      value={isPaused ? "pause" : isFollowing ? "follow" : "none"}
      options={[
        { value: "follow", label: "Follow" },
        { value: "pause", label: "Pause" },
        { value: "step", label: "Step" },
      ]}
      onChange={(chosen) => {
        onFollow();
        if (isBusy) return;
        if (chosen === "follow") {
          if (isPaused) send({ command: "resume" });
        } else if (isPaused) {
          if (chosen === "step") send({ command: "step" });
        } else send({ command: "pause" }); // the first step is that to the end of the next tick
      }}
    />
  );
}
