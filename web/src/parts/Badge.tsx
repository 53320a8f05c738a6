import type { ReactNode } from "react";
import { Mark, type MarkKind } from "./Mark";

export type Tone = "ok" | "warn" | "err" | "run" | "fail" | "plain";

const TONES: Record<Tone, readonly [mark: MarkKind, colors: string]> = {
  ok: ["success", "bg-ok-soft text-ok"],
  warn: ["warning", "bg-warn-soft text-warn"],
  err: ["error", "bg-err-soft text-err"],
  run: ["running", "bg-run-soft text-run"],
  fail: ["failure", "bg-fail-soft text-fail"],
  plain: ["halted", "bg-surface-2 text-ink-2"],
};

const LOOKS =
  "badge inline-flex items-center gap-[5px] pr-2 pl-1.5 rounded-[10px] text-sm font-medium leading-normal";

interface BadgeProps {
  tone: Tone;
  children: ReactNode;
  /** Another mark than the tone's; null for none. */
  mark?: MarkKind | null;
}

/** A state in one or two words, with its mark. */
export function Badge({ tone, children, mark = TONES[tone][0] }: BadgeProps) {
  return (
    <span className={`${LOOKS} whitespace-nowrap ${TONES[tone][1]}`}>
      {mark && <Mark kind={mark} label={null} />}
      {children}
    </span>
  );
}
