/** Usage: the tokens of the runs that have ended, by day, user or model, and what they have cost. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useSearch } from "wouter";
import { api, unwrap } from "@/api/client";
import { useMe } from "@/api/queries";
import { Button } from "@/parts/Button";
import { Chip } from "@/parts/Chip";
import { EmptyState } from "@/parts/EmptyState";
import { plural } from "@/parts/format";
import { CloseIcon } from "@/parts/icons";
import { Problem } from "@/parts/Problem";
import { save } from "@/parts/save";
import { Segmented } from "@/parts/Segmented";
import { Skeleton } from "@/parts/Skeleton";
import { toast } from "@/parts/Toast";
import { commonestMiss } from "@/run/cache";
import { serviceTime } from "@/store/clock";
import { useTitle } from "@/store/title";
import type { By, Report } from "./figures";
import { Spending } from "./Spending";
import { UsageTable } from "./UsageTable";

const DAY_MS = 86_400_000;
const SPANS = [7, 30, 90, 365].map((days) => ({ value: String(days), label: `${days} d` }));
const firstOf = (days: number): string =>
  new Date(serviceTime() - (days - 1) * DAY_MS).toISOString().slice(0, 10);

export default function Usage() {
  useTitle("Usage");
  const [, navigate] = useLocation();
  const given = new URLSearchParams(useSearch());
  const isOperator = useMe().data?.is_operator ?? false;
  const one = (name: string) => given.get(name) ?? "";
  const [from, to, user] = [one("from"), one("to"), isOperator ? one("user") : ""];
  const by: By = one("by") === "model" ? "model" : one("by") === "user" && isOperator ? "user_id" : "day";
  const query = { ...(from && { from }), ...(to && { to }), ...(user && { user }) };
  const { data, error, isPending, isPlaceholderData, refetch } = useQuery({
    queryKey: ["usage", query],
    queryFn: ({ signal }) => unwrap(api.GET("/api/usage", { params: { query }, signal })) as Promise<Report>,
    placeholderData: keepPreviousData,
  });
  const change = (changes: Readonly<Record<string, string>>) => {
    const next = new URLSearchParams({ ...Object.fromEntries(given), ...changes });
    for (const [name, value] of Object.entries(changes)) if (value === "") next.delete(name);
    navigate(`/usage${next.size ? `?${next.toString()}` : ""}`, { replace: true });
  };
  const download = async () => {
    const call = api.GET("/api/usage", { params: { query: { ...query, format: "csv" } }, parseAs: "blob" });
    save(await unwrap<Blob>(call), `usage-${data?.first}-${data?.last}.csv`);
  };
  const span = SPANS.find(({ value }) => !to && (from || firstOf(30)) === firstOf(Number(value)))?.value;
  const groups = [
    { value: "day", label: "Day" },
    ...(isOperator ? [{ value: "user", label: "User" }] : []),
    { value: "model", label: "Model" },
  ];
  return (
    <div className="h-full py-4 px-5 overflow-auto max-narrow:p-3">
      <header className="flex flex-wrap items-center gap-2 mb-3">
        <h1 className="mr-auto">Usage</h1>
        <Segmented
          label="By"
          options={groups}
          value={by === "user_id" ? "user" : by}
          onChange={(next) => change({ by: next === "day" ? "" : next })}
        />
        <Segmented
          label="Days"
          options={SPANS}
          value={span ?? ""}
          onChange={(days) => change({ from: days === "30" ? "" : firstOf(Number(days)), to: "" })}
        />
        <span className="flex items-center gap-1.5 text-ink-3 text-sm">
          <Day
            label="First day"
            value={from || (data?.first ?? firstOf(30))}
            onChange={(day) => change({ from: day })}
          />
          to
          <Day label="Last day" value={to || firstOf(1)} onChange={(day) => change({ to: day })} />
        </span>
        <Button
          disabled={!data?.rows.length || isPlaceholderData}
          onClick={() => void download().catch((problem: unknown) => toast(String(problem)))}
        >
          Save as CSV
        </Button>
        {user && (
          <Chip aria-label={`User ${user}: show all users`} onClick={() => change({ user: "" })}>
            User: {user} <CloseIcon size={12} />
          </Chip>
        )}
      </header>
      <Spending user={user} />
      {isPending ? (
        <Skeleton label="Loading usage" />
      ) : error ? (
        <Problem
          title="Usage cannot be shown."
          action={
            <Button size="small" onClick={() => void refetch()}>
              Try again
            </Button>
          }
        >
          {error.message}
        </Problem>
      ) : data.rows.length === 0 ? (
        <EmptyState title="No usage in this period">A run counts on the day it ended, in UTC.</EmptyState>
      ) : (
        <>
          <UsageTable
            report={data}
            by={by}
            isBusy={isPlaceholderData}
            onUser={(name) => change({ user: name, by: "" })}
          />
          <Notes report={data} />
        </>
      )}
    </div>
  );
}

/** How the figures are meant, and what is missing. */
function Notes({ report: { currency, totals } }: { report: Report }) {
  const missed = commonestMiss(totals.cache_misses);
  return (
    <p className="max-w-[90ch] pt-2 text-ink-3 text-sm">
      A run counts on the day it ended, in UTC. Tokens are counted as for limits: without those read from the
      cache. Cached is the share of the input read from the cache.
      {missed !== "" && ` The cache was missed most often because ${missed}.`}
      {totals.is_estimated &&
        " ≈: partly estimated, for turns that were interrupted or whose usage the provider did not report."}
      {totals.auxiliary_requests > 0 &&
        ` The tokens include requests of chat products for titles and the like: ${plural(totals.auxiliary_requests, "request")}, which no run counts.`}
      {currency === null
        ? " This service has no prices, so no costs are shown."
        : totals.cost === null && " ≥: more was spent, as the price of some tokens is not known."}
    </p>
  );
}

interface DayProps {
  label: string;
  value: string;
  onChange: (day: string) => void;
}

/** A day that is taken when it is one: while its year is typed, it is another one. */
function Day({ label, value, onChange }: DayProps) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <input
      className="h-7 px-2 border border-line rounded-md bg-surface text-sm pointer-coarse:h-11"
      type="date"
      aria-label={`${label}, UTC`}
      min="1970-01-01"
      max="9999-12-31"
      value={typed ?? value}
      onChange={({ target }) => {
        const isDay = target.value !== "" && target.validity.valid;
        setTyped(isDay ? null : target.value);
        if (isDay) onChange(target.value);
      }}
      onBlur={() => setTyped(null)}
    />
  );
}
