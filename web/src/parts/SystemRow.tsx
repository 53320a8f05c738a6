import { Mark } from "./Mark";
import { STRIP, STRIP_MARK } from "./Problem";

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
    <div
      className={`system-row gap-2 ${STRIP} border-warn-line border-l-warn-fill bg-warn-soft`}
      role="status"
      aria-live={isPast ? "off" : "polite"}
    >
      <Mark kind="warning" size={14} className={STRIP_MARK} label={null} />
      <strong className="text-warn font-strong">System</strong>
      <span className="flex-1 min-w-0 wrap-anywhere">{children}</span>
      {at !== undefined && <span className="text-warn text-sm">{at}</span>}
    </div>
  );
}
