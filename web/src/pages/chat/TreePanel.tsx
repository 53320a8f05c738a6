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

const HEAD = "flex flex-none items-center gap-2 h-11 pr-2.5 pl-4 border-b border-line";
const HEADLINE = "tree-panel-headline flex-none h-9 py-[7px] px-4 border-b border-line truncate";

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
    <section
      className="tree-panel flex flex-col min-w-0 min-h-0 border-l border-line"
      aria-label="Tree of the run"
    >
      {model ? (
        <LiveTree model={model} loaded={loaded} onTurn={onTurn} onClose={onClose} />
      ) : (
        <>
          <div className={HEAD}>
            <span className="flex-1" />
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
const PAUSED = { tone: "plain", mark: "paused", children: "Paused" } as const;
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
      <div className={HEAD}>
        <span className="mono truncate">{model.run.tree}.yaml</span>
        <span className="mono text-ink-3">{model.run.tree_version?.slice(0, 7)}</span>
        <Badge {...(!isLive ? ENDED : debugging.isPaused ? PAUSED : LIVE)} />
        <span className="flex-1" />
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
      <div className="flex-none h-33 border-b border-line">
        <Overview model={model} at={at} onSelectTick={setChosen} />
      </div>
      <Headline model={model} at={at} />
      <div className="flex flex-1 flex-col min-h-0">
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
  if (!tick) return <p className={HEADLINE}>Waiting for the first tick.</p>;
  const [first, rest] = headlineParts(model.headline(at));
  return (
    <p className={HEADLINE}>
      <b>Tick {tick.tick}</b>
      <span className="text-ink-3">
        {" "}
        · turn {tick.turn} · {duration(tick.at_s)}
      </span>
      <b className="ml-2.5">{first}</b> {rest}
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
