/** A run, recorded or live: its tree's source with marks, and what explains each tick. */
import { useRef } from "react";
import { useLocation } from "wouter";
import { ApiError } from "@/api/client";
import { Skeleton } from "@/parts/Skeleton";
import type { NodeFacts } from "@/run/facts";
import type { RunModel } from "@/run/model";
import { firstShown } from "@/run/moves";
import { useRunVersion, type SourceHandle } from "@/source";
import { useDebugging } from "@/source/debug/useDebugging";
import { NoRun } from "@/source/NoRun";
import { useRun, type LoadedRun } from "@/source/useRun";
import { useTitle } from "@/store/title";
import { StreamedAnswer } from "./panes/StreamedAnswer";
import { RunActions } from "./RunActions";
import { RunView } from "./RunView";
import { useView } from "./useView";

export default function RunPage({ runId }: { runId: string }) {
  const loaded = useRun(runId);
  const { model, state, error, retry } = loaded;
  const question = model?.run.question;
  useTitle(question ? `${question} · Run` : `Run ${runId.slice(0, 8)}`);
  if (model !== null) return <ServedRun key={model.run.id} loaded={loaded} model={model} />;
  if (state === "failed")
    return <NoRun runId={runId} error={error instanceof ApiError ? error : null} onRetry={retry} />;
  return <Skeleton label="Loading the run" />;
}

function ServedRun({ loaded, model }: { loaded: LoadedRun; model: RunModel }) {
  useRunVersion(model);
  const [view, change] = useView();
  const source = useRef<SourceHandle>(null);
  const [, navigate] = useLocation();
  const at = firstShown(model, view.tick);
  const debugging = useDebugging(model, at, () => source.current?.selectedNode() ?? view.node);
  const onOpenSource = ({ file, line }: NodeFacts) =>
    navigate(`/trees/${encodeURIComponent(file.replace(/\.ya?ml$/, ""))}?line=${String(line)}`);
  return (
    <RunView
      model={model}
      view={view}
      change={change}
      source={source}
      explain={loaded.explain}
      whyNoTexts="The conversation was deleted, or the record has expired."
      actions={<RunActions run={model.run} tick={model.ticks[at]?.tick ?? null} />}
      served={{
        debugging,
        isReconnecting: loaded.state === "reconnecting",
        onOpenSource,
        Answer: StreamedAnswer,
      }}
    />
  );
}
