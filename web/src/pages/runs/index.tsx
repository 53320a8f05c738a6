/** Runs: which questions were asked, how each ended, and what it used. */
import { useCallback, useEffect, useRef, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { useHasFeature, useMe } from "@/api/queries";
import { StatusBar } from "@/parts/StatusBar";
import { Button } from "@/parts/Button";
import { number, plural } from "@/parts/format";
import { Problem } from "@/parts/Problem";
import { Skeleton } from "@/parts/Skeleton";
import { useKeys } from "@/store/keys";
import { useTitle } from "@/store/title";
import { FilterBar } from "./FilterBar";
import { addressOf, countsByOutcome, isNarrowed, NONE, readFilters, SINCE, type RunFilters } from "./filters";
import { NoMatch, NoRuns } from "./nothing";
import { useFlagCounts, useRunCounts, useRunList } from "./queries";
import { RunRow } from "./RunRow";
import "./runs.css";

const KEYS = [
  [["j", "k"], "move"],
  [["Enter"], "open"],
  [["x"], "select"],
  [["c"], "compare the selected"],
  [["f"], "filter"],
] as const;

export default function Runs() {
  useTitle("Runs");
  const [, navigate] = useLocation();
  const filters = readFilters(useSearch());
  const isOperator = useMe().data?.is_operator ?? false;
  const hasShadows = useHasFeature("shadow") && isOperator;
  const {
    runs,
    readAt,
    error,
    isPending,
    isPlaceholderData,
    hasNextPage,
    fetchNextPage,
    isFetchingNextPage,
    refetch,
  } = useRunList(filters);
  const counted = useRunCounts(filters);
  const flags = useFlagCounts(filters);
  const [selected, setSelected] = useState<readonly string[]>([]);
  const search = useRef<HTMLInputElement>(null);
  const filter = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);

  const change = (changes: Partial<RunFilters>) => {
    navigate(`/runs${addressOf({ ...filters, ...changes })}`, { replace: true });
  };
  const select = useCallback((runId: string) => {
    setSelected((before) =>
      before.includes(runId) ? before.filter((id) => id !== runId) : [...before.slice(-1), runId],
    );
  }, []);
  const compare = () => {
    const [first, second] = selected;
    if (first === undefined || second === undefined) return false;
    navigate(`/compare/${first}/${second}`);
    return true;
  };
  const links = () => [...(body.current?.querySelectorAll<HTMLElement>(".runs-question a") ?? [])];
  const move = (step: number) => {
    const all = links();
    const at = all.findIndex((link) => link.closest("tr")?.contains(document.activeElement));
    const next =
      all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  useKeys({
    j: () => {
      move(1);
    },
    k: () => {
      move(-1);
    },
    x: () => {
      const row = document.activeElement?.closest<HTMLElement>("[data-run]");
      if (!row?.dataset.run) return false;
      select(row.dataset.run);
      return true;
    },
    c: compare,
    f: () => {
      filter.current?.querySelector("button")?.focus();
    },
    "/": () => {
      search.current?.focus();
      search.current?.select();
    },
    Escape: () => {
      if (selected.length === 0) return false;
      setSelected([]);
      return true;
    },
  });

  const isEmpty = runs.length === 0 && !hasNextPage;
  const hasNone = isEmpty && !isPending && !error && !isNarrowed(filters);
  return (
    <div className="runs">
      <div className="runs-scroll">
        <div className="runs-head">
          <h1>Runs</h1>
          {counted && (
            <span className="runs-total">
              {counted.is_complete ? "" : "over "}
              {number(counted.total)}
              {filters.since ? ` in ${SINCE[filters.since].words}` : ""}
            </span>
          )}
          {hasShadows && (
            <Link className="runs-shadow" href="/shadow">
              Shadow runs
            </Link>
          )}
          {selected.length > 0 && (
            <span className="runs-compare">
              <span role="status">
                {selected.length === 1 ? "1 selected; select another to compare" : "2 selected"}
              </span>
              {selected.length === 2 && (
                <Button variant="primary" onClick={compare}>
                  Compare two runs
                </Button>
              )}
            </span>
          )}
        </div>
        {!hasNone && (
          <FilterBar
            filters={filters}
            onChange={change}
            counts={counted ? countsByOutcome(counted.by_reason) : null}
            flags={flags}
            searchRef={search}
            filterRef={filter}
          />
        )}
        {isPending ? (
          <Skeleton label="Loading runs" />
        ) : error && runs.length === 0 ? (
          <Problem
            title="The runs cannot be listed."
            action={
              <Button size="small" onClick={() => void refetch()}>
                Try again
              </Button>
            }
          >
            {error.message}
          </Problem>
        ) : isEmpty ? (
          hasNone ? (
            <NoRuns />
          ) : (
            <NoMatch
              filters={filters}
              onClear={() => {
                change(NONE);
              }}
            />
          )
        ) : (
          <table className="runs-table" aria-busy={isPlaceholderData}>
            <thead>
              <tr>
                <th scope="col">Outcome</th>
                <th scope="col">Question</th>
                <th scope="col" className="runs-shape-cell">
                  Shape
                  <span className="runs-legend runs-wide" aria-hidden="true">
                    <i className="runs-legend-model" /> model <i className="runs-legend-tools" /> tools{" "}
                    <i className="runs-legend-notice" /> notice
                  </span>
                </th>
                <th scope="col" className="runs-figure">
                  Turns
                </th>
                <th scope="col" className="runs-figure">
                  Tokens
                </th>
                <th scope="col" className="runs-figure">
                  Time
                </th>
                <th scope="col">Tree</th>
                <th scope="col" className="runs-wide">
                  Run
                </th>
                <th scope="col" className="runs-began">
                  Began
                </th>
              </tr>
            </thead>
            <tbody ref={body}>
              {runs.map((run) => (
                <RunRow
                  key={run.run_id}
                  run={run}
                  readAt={run.status !== "finished" ? readAt : 0}
                  isSelected={selected.includes(run.run_id)}
                  onSelect={select}
                />
              ))}
            </tbody>
          </table>
        )}
        {hasNextPage && (
          <NextPage
            key={runs.length}
            isBusy={isFetchingNextPage}
            listed={runs.length}
            onReach={() => void fetchNextPage()}
          />
        )}
      </div>
      <StatusBar
        keys={KEYS}
        note="Widths of shapes grow with the root of the time: one minute fills the column."
      />
    </div>
  );
}

interface NextPageProps {
  isBusy: boolean;
  listed: number;
  onReach: () => void;
}

/** Loads the next page when it is scrolled to, or pressed. */
function NextPage({ isBusy, listed, onReach }: NextPageProps) {
  const ref = useRef<HTMLDivElement>(null);
  const reach = useRef(onReach);
  useEffect(() => {
    reach.current = onReach;
  });
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) reach.current();
      },
      { rootMargin: "400px" },
    );
    if (ref.current) observer.observe(ref.current);
    return () => {
      observer.disconnect();
    };
  }, []);
  return (
    <div className="runs-next" ref={ref}>
      <Button size="small" disabled={isBusy} onClick={onReach}>
        {isBusy ? "Loading…" : `More than ${plural(listed, "run")}`}
      </Button>
    </div>
  );
}
