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

const KEYS = [
  [["j", "k"], "move"],
  [["Enter"], "open"],
  [["x"], "select"],
  [["c"], "compare the selected"],
  [["f"], "filter"],
] as const;

const HEAD = "h-8 py-0 px-2.5 text-ink-3 text-sm font-medium text-left";
const FIGURE_HEAD = `${HEAD} text-right! whitespace-nowrap`;

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
    <div className="flex flex-col h-full">
      <div className="flex-1 min-h-0 px-5 overflow-auto max-narrow:px-4 max-narrow:bg-surface">
        <div className="flex items-center gap-2 h-15 pt-1 whitespace-nowrap">
          <h1>Runs</h1>
          {counted && (
            <span className="text-ink-3">
              {counted.is_complete ? "" : "over "}
              {number(counted.total)}
              {filters.since ? ` in ${SINCE[filters.since].words}` : ""}
            </span>
          )}
          {hasShadows && (
            <Link className="text-ink-2 text-sm" href="/shadow">
              Shadow runs
            </Link>
          )}
          {selected.length > 0 && (
            <span className="runs-compare flex items-center gap-2 ml-auto text-ink-3 text-sm max-narrow:text-xs">
              <span role="status" className={selected.length === 2 ? "max-narrow:sr-only" : ""}>
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
          <table
            className="runs-table w-full last:mb-5 border border-line rounded-md border-spacing-0 bg-surface table-fixed aria-busy:grayscale max-narrow:block max-narrow:border-0"
            aria-busy={isPlaceholderData}
          >
            <thead className="max-narrow:sr-only">
              <tr>
                <th scope="col" className={`${HEAD} w-34`}>
                  Outcome
                </th>
                <th scope="col" className={HEAD}>
                  Question
                </th>
                <th scope="col" className={`${HEAD} w-41.5 min-[1500px]:w-65.5`}>
                  Shape
                  <span
                    className="ml-2.5 text-xs font-regular max-[1500px]:hidden [&>i]:inline-block [&>i]:mr-px [&>i]:ml-1.5"
                    aria-hidden="true"
                  >
                    <i className="size-2 bg-run-fill" /> model <i className="w-2 h-0.75 bg-ink-2" /> tools{" "}
                    <i className="w-0.5 h-2.5 bg-warn-fill" /> notice
                  </span>
                </th>
                <th scope="col" className={`${FIGURE_HEAD} w-19`}>
                  Turns
                </th>
                <th scope="col" className={`${FIGURE_HEAD} w-21.5 min-[1500px]:w-31.5`}>
                  Tokens
                </th>
                <th scope="col" className={`${FIGURE_HEAD} w-18`}>
                  Time
                </th>
                <th scope="col" className={`${HEAD} w-36 max-[1000px]:hidden`}>
                  Tree
                </th>
                <th scope="col" className={`${HEAD} w-24 max-[1500px]:hidden`}>
                  Run
                </th>
                <th scope="col" className={`${FIGURE_HEAD} w-23.5`}>
                  Began
                </th>
              </tr>
            </thead>
            <tbody className="max-narrow:block" ref={body}>
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
        note="Width grows with the square root of the time. One minute fills the column."
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
    <div className="flex justify-center mb-5 p-3" ref={ref}>
      <Button size="small" disabled={isBusy} onClick={onReach}>
        {isBusy ? "Loading…" : `More than ${plural(listed, "run")}`}
      </Button>
    </div>
  );
}
