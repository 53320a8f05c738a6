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
const CHOSEN = "border-ink! font-medium";
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
    <div className="flex flex-wrap items-center gap-y-2 gap-x-3 pb-3 max-narrow:gap-x-2 max-narrow:pb-2">
      <Search
        key={filters.search === "" ? "empty" : "given"}
        value={filters.search}
        inputRef={searchRef}
        onChange={(search) => {
          onChange({ search });
        }}
      />
      <div
        className="flex gap-1.5 max-narrow:max-w-full max-narrow:py-0.5 max-narrow:overflow-x-auto max-narrow:[&>.chip]:flex-none"
        role="group"
        aria-label="Outcome"
      >
        {TABS.filter(({ outcome, rare }) => !rare || !!counts?.[outcome] || filters.outcome === outcome).map(
          ({ outcome, label, mark }) => (
            <Chip
              key={outcome}
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
      <div
        className="flex gap-1.5 max-narrow:flex-wrap min-[1500px]:ml-auto"
        role="group"
        aria-label="Filters"
        ref={filterRef}
      >
        <Menu
          label="Reason"
          align="end"
          items={reasons}
          button={(props) => (
            <Chip {...props} className={filters.reason ? CHOSEN : ""}>
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
            <Chip {...props} className={filters.tree ? CHOSEN : ""}>
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
            <Chip {...props} className={filters.since ? CHOSEN : ""}>
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
    <label className="flex flex-[0_1_190px] min-w-0 items-center gap-2 h-7 pr-1.5 pl-2 border border-line rounded-md bg-surface text-ink-3 focus-within:outline-2 focus-within:outline-focus focus-within:outline-offset-1 min-[1500px]:basis-70 max-narrow:flex-[1_0_100%] max-narrow:h-9 max-narrow:bg-canvas max-narrow:[&>.kbd]:hidden">
      <SearchIcon size={14} />
      <span className="visually-hidden">Search runs by question or id</span>
      <input
        ref={inputRef}
        className="flex-1 w-0 min-w-0 h-full p-0 border-0 outline-none bg-transparent text-ink placeholder:text-ink-3"
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
