import { memo } from "react";
import { Link } from "wouter";
import { Badge } from "@/parts/Badge";
import { clock, compact, number, roughly } from "@/parts/format";
import { outcomeOf } from "@/run/outcome";
import type { RunBody } from "./queries";
import { Shape } from "./Shape";

const CELL =
  "h-9 py-0 px-2.5 border-t border-line text-left max-narrow:h-auto max-narrow:p-0 max-narrow:border-0";
const FIGURE = `${CELL} text-right! whitespace-nowrap`;
const CODE = "block text-ink-3 text-xs";

interface RunRowProps {
  run: RunBody;
  /** When a run that is under way was read. */
  readAt: number;
  isSelected: boolean;
  onSelect: (runId: string) => void;
}

export const RunRow = memo(function RunRow({ run, readAt, isSelected, onSelect }: RunRowProps) {
  const { words, tone } = outcomeOf(run);
  const began = Date.parse(run.created_at);
  const seconds = run.duration_s ?? Math.max(0, (readAt - began) / 1000);
  const question = run.question || "(its text was deleted)";
  const {
    max_iterations: turns,
    token_budget: tokens,
    soft_warning_percent,
    token_warning_percent,
  } = run.limits;
  return (
    <tr
      className={`group relative focus-within:bg-sel focus-within:shadow-[inset_2px_0_var(--ink)] max-narrow:grid max-narrow:grid-cols-[1fr_auto_auto] max-narrow:items-center max-narrow:gap-y-1.5 max-narrow:-mx-4 max-narrow:py-2.5 max-narrow:px-4 max-narrow:border-b max-narrow:border-line ${isSelected ? "bg-sel" : "hover:not-focus-within:bg-surface-2"}`}
      data-run={run.run_id}
    >
      <td className={`${CELL} narrow:relative [&>.badge]:align-[-1px]`}>
        <input
          type="checkbox"
          className="absolute z-1 top-2.5 right-1 size-4 m-0 opacity-0 accent-ink group-hover:opacity-100 checked:opacity-100 focus-visible:opacity-100 [@media(hover:none)]:opacity-100 max-narrow:top-2 max-narrow:right-4 max-narrow:size-6"
          aria-label={`Select the run of ${clock(began)}`}
          checked={isSelected}
          onChange={() => {
            onSelect(run.run_id);
          }}
        />
        <Badge tone={tone}>{run.status === "running" ? `turn ${run.turns + 1}` : words}</Badge>
      </td>
      <td className={`runs-question ${CELL} max-narrow:col-span-full max-narrow:font-medium`}>
        <div className="flex items-center gap-2.5 max-narrow:flex-wrap max-narrow:gap-1 [&>.badge]:flex-none">
          <Link
            href={`/runs/${run.run_id}`}
            className={`min-w-0 truncate no-underline after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus focus-visible:after:-outline-offset-2 max-narrow:whitespace-normal ${run.question ? "" : "text-ink-3 italic"}`}
            title={question}
          >
            {question}
          </Link>
          {!!run.summary?.node_errors && <Badge tone="err">node error</Badge>}
        </div>
      </td>
      <td className={`${CELL} max-narrow:pr-4`}>
        <Shape run={run} seconds={seconds} />
      </td>
      <td className={`${FIGURE} max-narrow:text-ink-3`}>
        <Figure value={run.turns} limit={turns} warnPercent={soft_warning_percent}>
          {number(run.turns)}
          {turns !== undefined && <span className="text-ink-3">/{turns}</span>}
          <span className="narrow:hidden text-ink-3 whitespace-pre"> turns · </span>
        </Figure>
      </td>
      <td className={`${FIGURE} max-narrow:hidden`}>
        <Figure value={run.tokens_used} limit={tokens} warnPercent={token_warning_percent}>
          {run.tokens_estimated && <span title="In part estimated">≈</span>}
          {number(run.tokens_used)}
          {tokens !== undefined && <span className="text-ink-3 max-[1500px]:hidden">/{compact(tokens)}</span>}
        </Figure>
      </td>
      <td className={`${FIGURE} max-narrow:text-ink-3`}>{roughly(seconds)}</td>
      <td className={`${CELL} max-[1000px]:hidden`}>
        <code className={`${CODE} truncate`}>
          {run.tree.name}
          {run.tree.version && `@${run.tree.version.slice(0, 7)}`}
        </code>
      </td>
      <td className={`${CELL} max-[1500px]:hidden`}>
        <code className={CODE}>{run.run_id.slice(0, 8)}</code>
      </td>
      <td className={`${FIGURE} text-ink-3 max-narrow:col-[2/-1] max-narrow:row-1 max-narrow:pr-9`}>
        <time dateTime={run.created_at} title={new Date(began).toLocaleString("en-GB")}>
          {beganText(began)}
        </time>
      </td>
    </tr>
  );
});

interface FigureProps {
  value: number;
  limit: number | undefined;
  warnPercent: number | undefined;
  children: React.ReactNode;
}

/** A figure above its share of the limit. */
function Figure({ value, limit, warnPercent = 100, children }: FigureProps) {
  const percent = limit ? Math.min(100, (100 * value) / limit) : 0;
  return (
    <div className="relative">
      {children}
      {limit !== undefined && (
        <i
          className="absolute right-0 -bottom-1 w-12 h-0.75 rounded-[2px] bg-surface-3 overflow-hidden max-narrow:hidden"
          aria-hidden="true"
        >
          <b
            className={`block h-full ${percent >= warnPercent ? "bg-warn-fill" : "bg-ink-3"}`}
            style={{ width: `${percent}%` }}
          />
        </i>
      )}
    </div>
  );
}

/** 11:24:39 today; else with the day. */
function beganText(when: number): string {
  const date = new Date(when);
  const isToday = date.toDateString() === new Date().toDateString();
  if (isToday) return clock(when);
  const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
  return `${day}, ${date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}`;
}
