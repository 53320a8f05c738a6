import type { ReactNode } from "react";
import { Mark, type MarkKind } from "./Mark";
import "./Badge.css";

export type Tone = "ok" | "warn" | "err" | "run" | "fail" | "plain";

const MARKS: Record<Tone, MarkKind> = {
  ok: "success",
  warn: "warning",
  err: "error",
  run: "running",
  fail: "failure",
  plain: "halted",
};

interface BadgeProps {
  tone: Tone;
  children: ReactNode;
  /** Another mark than the tone's; null for none. */
  mark?: MarkKind | null;
}

/** A state in one or two words, with its mark. */
export function Badge({ tone, children, mark = MARKS[tone] }: BadgeProps) {
  return (
    <span className={`badge badge-${tone}`}>
      {mark && <Mark kind={mark} label={null} />}
      {children}
    </span>
  );
}
