/** Shadow runs: whether two controls agree on the same questions, and what one saves; for operators. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap } from "@/api/client";
import type { components } from "@/api/schema";
import { EmptyState } from "@/parts/EmptyState";
import { number, plural } from "@/parts/format";
import { Problem } from "@/parts/Problem";
import { Segmented } from "@/parts/Segmented";
import { Skeleton } from "@/parts/Skeleton";
import { serviceTime } from "@/store/clock";
import { useTitle } from "@/store/title";
import { ControlPair } from "./ControlPair";
import { countsOf } from "./figures";

type Report = components["schemas"]["ShadowReport"];

const HOUR_MS = 3_600_000;
const PERIODS = { "24h": 24, "7d": 168, all: null } as const;
type Period = keyof typeof PERIODS;
const LABELS = [
  { value: "24h", label: "24 h" },
  { value: "7d", label: "7 d" },
  { value: "all", label: "All" },
] as const;

export default function Shadow() {
  useTitle("Shadow runs");
  const [period, setPeriod] = useState<Period>("7d");
  const { data, error, isPending } = useQuery({
    queryKey: ["shadow", period],
    queryFn: ({ signal }) => {
      const hours = PERIODS[period];
      const since = hours === null ? undefined : new Date(serviceTime() - hours * HOUR_MS).toISOString();
      return unwrap(api.GET("/api/shadow/report", { params: { query: since ? { since } : {} }, signal }));
    },
  });
  if (error)
    return (
      <EmptyState isPage title="Shadow runs cannot be shown">
        {error.message}
      </EmptyState>
    );
  return (
    <div className="h-full py-4 px-5 overflow-auto max-narrow:p-3">
      <header className="flex items-center gap-2 mb-3 max-narrow:flex-wrap">
        <h1>Shadow runs</h1>
        <p className="flex-1 text-ink-3">The same questions under another control, which no user sees</p>
        <Segmented label="Since" options={LABELS} value={period} onChange={setPeriod} />
      </header>
      {isPending ? <Skeleton label="Loading the pairs" /> : <Body report={data} />}
    </div>
  );
}

function Body({ report }: { report: Report }) {
  if (report.pairs === 0)
    return (
      <EmptyState title="No question ran under two controls in this period">
        <p>
          With <code>ORACLE_CONTROL=shadow</code> a share of the questions is also run under another control,
          a tree or a version of a tree.
        </p>
      </EmptyState>
    );
  const failures = Object.values(report.failed).reduce((sum, count) => sum + count, 0);
  return (
    <>
      <p className="text-ink-3">{countsOf(report)}</p>
      {failures > 0 && (
        <Problem tone="warn" title={`${plural(failures, "shadow run")} failed.`}>
          Their users have noticed nothing. {Object.keys(report.failed).join("; ")}
        </Problem>
      )}
      {report.groups.map((group) => (
        <ControlPair key={`${group.primary} ${group.shadow}`} group={group} />
      ))}
      {report.further_groups > 0 && (
        <p className="text-ink-3">{number(report.further_groups)} further pairs of controls are not shown.</p>
      )}
      <p className="text-ink-3">{report.method}</p>
    </>
  );
}
