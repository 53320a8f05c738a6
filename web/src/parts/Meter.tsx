interface MeterProps {
  label: string;
  value: number;
  limit: number;
  /** Share of the limit, in percent, from which it warns. */
  warnPercent?: number | undefined;
  /** The figures in words: `7 of 10`. */
  text: string;
}

/** How much of a limit is used. */
export function Meter({ label, value, limit, warnPercent, text }: MeterProps) {
  const percent = limit > 0 ? Math.min(100, (value / limit) * 100) : 0;
  const isNear = warnPercent !== undefined && percent >= warnPercent;
  return (
    <span className="meter inline-flex items-center gap-2 text-sm whitespace-nowrap">
      <span className="text-ink-3">{label}</span>
      <svg
        className="meter-bar w-14 h-1 rounded-[2px]"
        viewBox="0 0 100 8"
        preserveAspectRatio="none"
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(value, limit)}
        aria-valuetext={text}
      >
        <rect className="fill-surface-3" width="100" height="8" />
        <rect className={isNear ? "fill-warn-fill" : "fill-ink-2"} width={percent} height="8" />
        {warnPercent !== undefined && (
          <rect className="fill-surface" x={warnPercent - 1} width="1.5" height="8" />
        )}
      </svg>
      <span className="font-medium" aria-hidden="true">
        {text}
      </span>
    </span>
  );
}
