import type { ReactNode } from "react";
import { Link } from "wouter";
import { Badge } from "@/parts/Badge";
import { Button } from "@/parts/Button";
import { roughly, number, plural } from "@/parts/format";
import type { TerminationReason } from "@/stream/chunks";
import { endingOf } from "./endings";
import type { LimitField } from "./limits";

interface EndLineProps {
  runId: string;
  reason: TerminationReason;
  errorType: string | null;
  turns: number | null;
  tokens: number | null;
  durationS: number | null;
  /** What can be done next; only the last answer of a conversation offers it. */
  actions: {
    onGoOn: () => void;
    onRaise: (limit: LimitField) => void;
    onAskAgain: () => void;
  } | null;
  /** What stands behind the figures. */
  children?: ReactNode;
}

/** How an answer ended, what it took, and what can be done next. */
export function EndLine({
  runId,
  reason,
  errorType,
  turns,
  tokens,
  durationS,
  actions,
  children,
}: EndLineProps) {
  const { words, tone, mark, canGoOn, limit } = endingOf(reason, errorType);
  return (
    <div className="mt-3">
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1 text-ink-3 text-sm">
        <Badge tone={tone} mark={mark}>
          {words}
        </Badge>
        {turns !== null && <span>{plural(turns, "turn")}</span>}
        {tokens !== null && <span>{number(tokens)} tokens</span>}
        {durationS !== null && <span>{roughly(durationS)}</span>}
        <Link href={`/runs/${runId}`}>Open the run</Link>
        {children}
      </div>
      {actions && (
        <div className="flex flex-wrap gap-2 mt-2.5 empty:hidden">
          {canGoOn && <Button onClick={actions.onGoOn}>Ask it to go on</Button>}
          {limit !== null && (
            <Button variant="ghost" onClick={() => actions.onRaise(limit)}>
              Raise the limit…
            </Button>
          )}
          {reason === "error" && <Button onClick={actions.onAskAgain}>Ask again</Button>}
        </div>
      )}
    </div>
  );
}
