/** Two runs beside each other: `/compare/A/B`. */
import { useQuery } from "@tanstack/react-query";
import { api, ApiError, unwrap } from "@/api/client";
import { LinkButton } from "@/parts/Button";
import { EmptyState } from "@/parts/EmptyState";
import { Skeleton } from "@/parts/Skeleton";
import { NoRun } from "@/source/NoRun";
import { useRun } from "@/source/useRun";
import { useTitle } from "@/store/title";
import { CompareView } from "./CompareView";

interface CompareProps {
  first: string;
  second: string;
}

export default function Compare({ first, second }: CompareProps) {
  useTitle(`Compare ${first.slice(0, 8)} with ${second.slice(0, 8)}`);
  const a = useRun(first);
  const b = useRun(second);
  const { data: difference, error } = useQuery({
    queryKey: ["compare", first, second],
    queryFn: async ({ signal }) => {
      const params = { path: { run_id: first }, query: { with: second } };
      const found = await unwrap(api.GET("/api/runs/{run_id}/compare", { params, signal }));
      return found.difference;
    },
  });
  for (const [runId, { state, error: why, retry }] of [
    [first, a],
    [second, b],
  ] as const)
    if (state === "failed")
      return <NoRun runId={runId} error={why instanceof ApiError ? why : null} onRetry={retry} />;
  if (error)
    return (
      <EmptyState
        isPage
        title="The runs cannot be compared"
        action={<LinkButton href="/runs">All runs</LinkButton>}
      >
        {error.message}
      </EmptyState>
    );
  // The places of both are compared: nothing is shown before both are here.
  if (!difference || !a.model || !b.model || a.model.ticks.length === 0)
    return <Skeleton label="Loading two runs" />;
  return (
    <CompareView
      a={{ model: a.model, explain: a.explain }}
      b={{ model: b.model, explain: b.explain }}
      difference={difference}
    />
  );
}
