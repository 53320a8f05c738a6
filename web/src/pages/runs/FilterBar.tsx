import { useEffect, useRef, useState, type Ref } from "react";
import { useTrees } from "@/api/queries";
import { Chip } from "@/parts/Chip";
import { ChevronDownIcon, SearchIcon } from "@/parts/icons";
import { Kbd } from "@/parts/Kbd";
import { Mark, type MarkKind } from "@/parts/Mark";
import { Menu, type MenuItem } from "@/parts/Menu";
import { outcomeOf } from "@/run/outcome";
import { REASONS, SINCE, type OutcomeCounts, type OutcomeName, type RunFilters, type Since } from "./filters";

/** `rare`: shown where there are such runs, or they are asked for. */
const TABS: readonly { outcome: OutcomeName; label: string; mark?: MarkKind; rare?: true }[] = [
  { outcome: "all", label: "All" },
  { outcome: "queued", label: "Queued", mark: "not-asked", rare: true },
  { outcome: "running", label: "Under way", mark: "running" },
  { outcome: "parked", label: "Waiting", mark: "info", rare: true },
  { outcome: "completed", label: "Completed", mark: "success" },
  { outcome: "stopped", label: "Stopped", mark: "warning" },
  { outcome: "failed", label: "Failed", mark: "error" },
];
const TYPING_MS = 250;

interface FilterBarProps {
  filters: RunFilters;
  onChange: (changes: Partial<RunFilters>) => void;
  counts: OutcomeCounts | null;
  flags: { slow: number | undefined; errors: number | undefined };
  searchRef: Ref<HTMLInputElement>;
  filterRef: Ref<HTMLDivElement>;
}

export function FilterBar({ filters, onChange, counts, flags, searchRef, filterRef }: FilterBarProps) {
  const { data: trees } = useTrees();
  const names = trees?.trees.filter((tree) => !tree.internal).map((tree) => tree.name) ?? [];
  const reasons: MenuItem[] = ["" as const, ...Object.values(REASONS).flat()].map((reason) => ({
    label: reason === "" ? "Any reason" : reasonWords(reason),
    checked: filters.reason === reason,
    onSelect: () => {
      onChange({ reason, ...(reason && { outcome: "all" }) });
    },
  }));
  return (
    <div className="runs-filters">
      <Search
        key={filters.search === "" ? "empty" : "given"}
        value={filters.search}
        inputRef={searchRef}
        onChange={(search) => {
          onChange({ search });
        }}
      />
      <div className="runs-tabs" role="group" aria-label="Outcome">
        {TABS.filter(({ outcome, rare }) => !rare || !!counts?.[outcome] || filters.outcome === outcome).map(
          ({ outcome, label, mark }) => (
            <Chip
              key={outcome}
              className={`runs-tab-${outcome}`}
              icon={mark && <Mark kind={mark} label={null} />}
              count={counts?.[outcome]}
              pressed={filters.outcome === outcome && filters.reason === ""}
              onClick={() => {
                onChange({ outcome, reason: "" });
              }}
            >
              {label}
            </Chip>
          ),
        )}
      </div>
      <div className="runs-more" role="group" aria-label="Filters" ref={filterRef}>
        <Menu
          label="Reason"
          align="end"
          items={reasons}
          button={(props) => (
            <Chip {...props} className={filters.reason ? "runs-chosen" : ""}>
              {filters.reason ? reasonWords(filters.reason) : "Reason"} <ChevronDownIcon size={12} />
            </Chip>
          )}
        />
        <Menu
          label="Tree"
          align="end"
          items={["", ...names].map((tree) => ({
            label: tree || "Any tree",
            checked: filters.tree === tree,
            onSelect: () => {
              onChange({ tree });
            },
          }))}
          button={(props) => (
            <Chip {...props} className={filters.tree ? "runs-chosen" : ""}>
              Tree: {filters.tree || "any"} <ChevronDownIcon size={12} />
            </Chip>
          )}
        />
        <Menu
          label="Began"
          align="end"
          items={(Object.keys(SINCE) as Since[]).map((since) => ({
            label: since ? `In ${SINCE[since].words}` : "Any time",
            checked: filters.since === since,
            onSelect: () => {
              onChange({ since });
            },
          }))}
          button={(props) => (
            <Chip {...props} className={filters.since ? "runs-chosen" : ""}>
              Began: {filters.since || "any time"} <ChevronDownIcon size={12} />
            </Chip>
          )}
        />
        <Chip
          pressed={filters.isSlow}
          count={flags.slow}
          onClick={() => {
            onChange({ isSlow: !filters.isSlow });
          }}
        >
          Over 10 s
        </Chip>
        <Chip
          pressed={filters.hasErrors}
          count={flags.errors}
          onClick={() => {
            onChange({ hasErrors: !filters.hasErrors });
          }}
        >
          Node error
        </Chip>
      </div>
    </div>
  );
}

export const reasonWords = (reason: string): string =>
  outcomeOf({ status: "finished", termination_reason: reason }).words;

interface SearchProps {
  value: string;
  onChange: (value: string) => void;
  inputRef: Ref<HTMLInputElement>;
}

/** What is typed is looked for after a pause. */
function Search({ value, onChange, inputRef }: SearchProps) {
  const [text, setText] = useState(value);
  const latest = useRef(onChange);
  useEffect(() => {
    latest.current = onChange;
  });
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => {
      latest.current(text);
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [text, value]);
  return (
    <label className="runs-search">
      <SearchIcon size={14} />
      <span className="visually-hidden">Search runs by question or id</span>
      <input
        ref={inputRef}
        type="search"
        value={text}
        maxLength={200}
        placeholder="Question or id…"
        onChange={(event) => {
          setText(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      <Kbd keys="/" />
    </label>
  );
}
