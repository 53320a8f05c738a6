/** Status marks: each has its own shape, so that it can be read without its colour. */
import "./Mark.css";

export type MarkKind =
  | "success"
  | "failure"
  | "running"
  | "halted"
  | "not-asked"
  | "error"
  | "warning"
  | "info"
  | "breakpoint"
  | "paused";

const WORDS: Record<MarkKind, string> = {
  success: "success",
  failure: "failure",
  running: "running",
  halted: "halted",
  "not-asked": "not asked",
  error: "error",
  warning: "warning",
  info: "information",
  breakpoint: "breakpoint",
  paused: "paused here",
};

const SHAPES: Record<MarkKind, React.ReactNode> = {
  success: (
    <>
      <circle cx="6" cy="6" r="5.5" fill="currentColor" />
      <path d="M3.4 6.2 5.2 8l3.4-3.8" className="mark-inner" />
    </>
  ),
  failure: (
    <path d="m2.5 2.5 7 7M9.5 2.5l-7 7" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" />
  ),
  running: (
    <>
      <rect x="0.5" y="3.5" width="11" height="5" rx="2.5" fill="currentColor" />
      <rect x="6.5" y="4.9" width="3.4" height="2.2" rx="1.1" className="mark-hole" />
    </>
  ),
  halted: <path d="M1 6h8M10 3v6" stroke="currentColor" strokeWidth="2" />,
  "not-asked": <circle cx="6" cy="6" r="1.2" fill="currentColor" />,
  error: (
    <>
      <path d="M6 .3 11.7 6 6 11.7.3 6z" fill="currentColor" />
      <path d="M6 3.2v3.4M6 8.4v.2" className="mark-inner" />
    </>
  ),
  warning: (
    <>
      <path d="M6 .8 11.7 11H.3z" fill="currentColor" />
      <path d="M6 4.2v3.2M6 9.1v.2" className="mark-inner" />
    </>
  ),
  info: (
    <>
      <circle cx="6" cy="6" r="5" stroke="currentColor" strokeWidth="1.2" fill="none" />
      <path d="M6 5.4v3M6 3.4v.2" stroke="currentColor" strokeWidth="1.3" strokeLinecap="round" />
    </>
  ),
  breakpoint: <circle cx="6" cy="6" r="4.5" fill="currentColor" />,
  paused: <path d="M0 1.5h6.5L12 6l-5.5 4.5H0z" fill="currentColor" />,
};

interface MarkProps {
  kind: MarkKind;
  size?: number;
  /** What it says to a screen reader; null where words beside it say the same. */
  label?: string | null;
  className?: string;
}

export function Mark({ kind, size = 12, label = WORDS[kind], className = "" }: MarkProps) {
  const spoken = label === null ? { "aria-hidden": true } : { role: "img", "aria-label": label };
  return (
    <svg
      className={`mark mark-${kind} ${className}`}
      width={size}
      height={size}
      viewBox="0 0 12 12"
      fill="none"
      {...spoken}
    >
      {SHAPES[kind]}
    </svg>
  );
}
