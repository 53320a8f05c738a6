/** A run, recorded or live: its tree's source with marks, and what explains each tick. */
import { ApiError } from "@/api/client";
import { Skeleton } from "@/parts/Skeleton";
import { NoRun } from "@/source/NoRun";
import { useRun } from "@/source/useRun";
import { useTitle } from "@/store/title";
import { RunView } from "./RunView";

export default function RunPage({ runId }: { runId: string }) {
  const loaded = useRun(runId);
  const { model, state, error, retry } = loaded;
  const question = model?.run.question;
  useTitle(question ? `${question} · Run` : `Run ${runId.slice(0, 8)}`);
  if (model !== null) return <RunView key={model.run.id} loaded={loaded} model={model} />;
  if (state === "failed")
    return <NoRun runId={runId} error={error instanceof ApiError ? error : null} onRetry={retry} />;
  return <Skeleton label="Loading the run" />;
}
