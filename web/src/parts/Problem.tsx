import type { ReactNode } from "react";
import { Mark } from "./Mark";
import "./Problem.css";

interface ProblemProps {
  tone?: "err" | "warn" | "plain";
  title: ReactNode;
  children?: ReactNode;
  action?: ReactNode;
}

const MARKS = { err: "error", warn: "warning", plain: "info" } as const;

/** Something that has gone wrong, or needs attention: what happened, then what can be done. */
export function Problem({ tone = "err", title, children, action }: ProblemProps) {
  return (
    <div className={`problem problem-${tone}`} role={tone === "err" ? "alert" : "status"}>
      <Mark kind={MARKS[tone]} size={14} label={null} />
      <div className="problem-body">
        <strong>{title}</strong> {children}
      </div>
      {action}
    </div>
  );
}
