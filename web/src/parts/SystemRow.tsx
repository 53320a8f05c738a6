import { Mark } from "./Mark";
import "./SystemRow.css";

interface SystemRowProps {
  children: string;
  /** When: seconds from the start, or a clock time, as text. */
  at?: string | undefined;
  /** It is of the past: it is read where it stands, and not announced. */
  isPast?: boolean;
}

/** A system message: amber, labelled, announced, and read-only. */
export function SystemRow({ children, at, isPast = false }: SystemRowProps) {
  return (
    <div className="system-row" role="status" aria-live={isPast ? "off" : "polite"}>
      <Mark kind="warning" size={14} label={null} />
      <strong className="system-row-label">System</strong>
      <span className="system-row-text">{children}</span>
      {at !== undefined && <span className="system-row-at">{at}</span>}
    </div>
  );
}
