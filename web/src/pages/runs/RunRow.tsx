import { memo } from "react";
import { Link } from "wouter";
import { Badge } from "@/parts/Badge";
import { clock, compact, number, roughly } from "@/parts/format";
import { outcomeOf } from "@/run/outcome";
import type { RunBody } from "./queries";
import { Shape } from "./Shape";

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
    <tr className={isSelected ? "runs-row runs-selected" : "runs-row"} data-run={run.run_id}>
      <td className="runs-outcome">
        <input
          type="checkbox"
          className="runs-check"
          aria-label={`Select the run of ${clock(began)}`}
          checked={isSelected}
          onChange={() => {
            onSelect(run.run_id);
          }}
        />
        <Badge tone={tone}>{run.status === "running" ? `turn ${run.turns + 1}` : words}</Badge>
      </td>
      <td className="runs-question">
        <div>
          <Link
            href={`/runs/${run.run_id}`}
            className={run.question ? "truncate" : "truncate runs-gone"}
            title={question}
          >
            {question}
          </Link>
          {!!run.summary?.node_errors && <Badge tone="err">node error</Badge>}
        </div>
      </td>
      <td className="runs-shape-cell">
        <Shape run={run} seconds={seconds} />
      </td>
      <td className="runs-figure runs-turns">
        <Figure value={run.turns} limit={turns} warnPercent={soft_warning_percent}>
          {number(run.turns)}
          {turns !== undefined && <span className="runs-limit">/{turns}</span>}
          <span className="runs-unit"> turns · </span>
        </Figure>
      </td>
      <td className="runs-figure runs-tokens">
        <Figure value={run.tokens_used} limit={tokens} warnPercent={token_warning_percent}>
          {run.tokens_estimated && <span title="In part estimated">≈</span>}
          {number(run.tokens_used)}
          {tokens !== undefined && <span className="runs-limit runs-wide">/{compact(tokens)}</span>}
        </Figure>
      </td>
      <td className="runs-figure runs-time">{roughly(seconds)}</td>
      <td className="runs-tree">
        <code className="truncate">
          {run.tree.name}
          {run.tree.version && `@${run.tree.version.slice(0, 7)}`}
        </code>
      </td>
      <td className="runs-id runs-wide">
        <code>{run.run_id.slice(0, 8)}</code>
      </td>
      <td className="runs-began">
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
    <div>
      {children}
      {limit !== undefined && (
        <i className={percent >= warnPercent ? "runs-bar runs-bar-near" : "runs-bar"} aria-hidden="true">
          <b style={{ width: `${percent}%` }} />
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
