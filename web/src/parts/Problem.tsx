import type { ReactNode } from "react";
import { Mark } from "./Mark";

interface ProblemProps {
  tone?: "err" | "warn" | "plain";
  title: ReactNode;
  children?: ReactNode;
  action?: ReactNode;
}

const TONES = {
  err: ["error", "border-err-fill/60 border-l-err-fill bg-err-soft"],
  warn: ["warning", "border-warn-line border-l-warn-fill bg-warn-soft"],
  plain: ["info", "border-line-2 bg-surface-2"],
} as const;

/** A strip with a thick edge. */
export const STRIP =
  "flex items-baseline py-[7px] pr-3 pl-[11px] border border-l-4 rounded-md leading-normal";
export const STRIP_MARK = "self-start mt-[3px]";

/** Something that has gone wrong, or needs attention: what happened, then what can be done. */
export function Problem({ tone = "err", title, children, action }: ProblemProps) {
  return (
    <div className={`problem gap-2.5 ${STRIP} ${TONES[tone][1]}`} role={tone === "err" ? "alert" : "status"}>
      <Mark kind={TONES[tone][0]} size={14} className={STRIP_MARK} label={null} />
      <div className="flex-1 min-w-0 wrap-anywhere">
        <strong className={tone === "err" ? "text-err" : ""}>{title}</strong> {children}
      </div>
      {action}
    </div>
  );
}
