/** A run that cannot be shown: it is not there, only its figures are, or the service does not answer. */
import { useQuery } from "@tanstack/react-query";
import { api, unwrap, type ApiError } from "@/api/client";
import { Button, LinkButton } from "@/parts/Button";
import { EmptyState } from "@/parts/EmptyState";
import { duration, number } from "@/parts/format";
import { Mark } from "@/parts/Mark";
import { Skeleton } from "@/parts/Skeleton";
import { outcomeOf } from "@/run/outcome";
import { FiguresStrip } from "./FiguresStrip";

interface NoRunProps {
  runId: string;
  error: ApiError | null;
  onRetry: () => void;
}

export function NoRun({ runId, error, onRetry }: NoRunProps) {
  if (error?.status === 410) return <Figures runId={runId} />;
  const all = <LinkButton href="/runs">All runs</LinkButton>;
  if (error?.status === 404)
    return (
      <EmptyState
        isPage
        icon={<Mark kind="info" size={20} label={null} />}
        title={`There is no run ${runId.slice(0, 8)}`}
        action={all}
      >
        It does not exist, or it belongs to another user.
      </EmptyState>
    );
  return (
    <EmptyState
      isPage
      icon={<Mark kind="warning" size={20} label={null} />}
      title="The run could not be read"
      action={<Button onClick={onRetry}>Try again</Button>}
    >
      {error?.message ?? "The service sent something unexpected."}
    </EmptyState>
  );
}

/** What is kept of a run whose record was deleted. */
function Figures({ runId }: { runId: string }) {
  const { data: run, error } = useQuery({
    queryKey: ["run", runId],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/oracle/runs/{run_id}", { params: { path: { run_id: runId } }, signal })),
  });
  if (error)
    return (
      <EmptyState
        isPage
        title="The record of this run was deleted"
        action={<LinkButton href="/runs">All runs</LinkButton>}
      >
        The conversation was deleted, or the record has expired.
      </EmptyState>
    );
  if (!run) return <Skeleton />;
  const { name, version } = run.tree;
  const rows = [
    ["outcome", outcomeOf(run).words],
    ["turns", number(run.turns)],
    ["tokens", number(run.tokens_used)],
    ["time", run.duration_s === null ? "" : duration(run.duration_s)],
    ["tree", version ? `${name}@${version.slice(0, 7)}` : name],
  ];
  return (
    <div>
      <FiguresStrip>The conversation was deleted, or the record has expired.</FiguresStrip>
      <dl className="max-w-140 p-4 font-mono text-sm">
        {rows.map(([label, value]) => (
          <div key={label} className="grid grid-cols-[128px_1fr] py-1 border-b border-line">
            <dt className="text-ink-3">{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
