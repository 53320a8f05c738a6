import "./Meter.css";

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
    <span className={`meter${isNear ? " meter-near" : ""}`}>
      <span className="meter-label">{label}</span>
      <svg
        className="meter-bar"
        viewBox="0 0 100 8"
        preserveAspectRatio="none"
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(value, limit)}
        aria-valuetext={text}
      >
        <rect className="meter-rest" width="100" height="8" />
        <rect className="meter-used" width={percent} height="8" />
        {warnPercent !== undefined && (
          <rect className="meter-tick" x={warnPercent - 1} width="1.5" height="8" />
        )}
      </svg>
      <span className="meter-text" aria-hidden="true">
        {text}
      </span>
    </span>
  );
}
