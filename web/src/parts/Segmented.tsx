import type { ReactNode } from "react";

interface Option<Value extends string> {
  value: Value;
  label: ReactNode;
}

interface SegmentedProps<Value extends string> {
  label: string;
  options: readonly Option<Value>[];
  value: Value;
  onChange: (value: Value) => void;
}

const LOOKS =
  "min-h-6 py-0 px-[9px] border-0 bg-transparent text-ink-2 text-sm font-medium pointer-coarse:min-h-11";
const STATES =
  "hover:bg-surface-2 aria-pressed:bg-ink aria-pressed:text-on-ink focus-visible:-outline-offset-3";

/** One of a few ways to see the same; each is a button that is pressed or not. */
export function Segmented<Value extends string>({ label, options, value, onChange }: SegmentedProps<Value>) {
  return (
    <div
      className="inline-flex border border-line-2 rounded-md bg-surface overflow-clip"
      role="group"
      aria-label={label}
    >
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          className={`${LOOKS} ${STATES}`}
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}
