/** Which run to compare with: the latest ones, those of the same question first. */
import { useQuery } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { api, unwrap } from "@/api/client";
import { Badge } from "@/parts/Badge";
import { Dialog } from "@/parts/Dialog";
import { ago, duration } from "@/parts/format";
import { Problem } from "@/parts/Problem";
import { Skeleton } from "@/parts/Skeleton";
import type { RunFacts } from "@/run/facts";
import { outcomeOf } from "@/run/outcome";

const MOST = 50;

export function CompareDialog({ run, onClose }: { run: RunFacts; onClose: () => void }) {
  const [, navigate] = useLocation();
  const { data, error } = useQuery({
    queryKey: ["runs", "latest", MOST],
    queryFn: ({ signal }) => unwrap(api.GET("/api/runs", { params: { query: { limit: MOST } }, signal })),
  });
  const others = data?.runs.filter((each) => each.run_id !== run.id && each.kept === "whole");
  const isSame = (question: string) => Number(question === run.question);
  others?.sort((one, other) => isSame(other.question) - isSame(one.question));
  return (
    <Dialog title="Compare with" onClose={onClose} width={560}>
      {error && <Problem title="The runs could not be read.">{error.message}</Problem>}
      {!data && !error && <Skeleton />}
      {others?.length === 0 && <p>There is no other run yet.</p>}
      <ul className="-mx-2 list-none">
        {others?.map((each) => {
          const outcome = outcomeOf(each);
          return (
            <li key={each.run_id}>
              <button
                type="button"
                className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-3 w-full p-2 border-0 rounded-md bg-transparent text-left hover:bg-surface-2 focus-visible:bg-surface-2"
                onClick={() =>
                  navigate(`/compare/${encodeURIComponent(run.id)}/${encodeURIComponent(each.run_id)}`)
                }
              >
                <span className="truncate">{each.question}</span>
                <Badge tone={outcome.tone}>{outcome.words}</Badge>
                <span className="col-span-full text-ink-3 text-sm">
                  <code>{each.run_id.slice(0, 8)}</code> · {ago(Date.parse(each.created_at))}
                  {each.duration_s === null ? "" : ` · ${duration(each.duration_s)}`}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </Dialog>
  );
}
