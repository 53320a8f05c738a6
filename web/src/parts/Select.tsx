import type { SelectHTMLAttributes } from "react";

interface SelectProps extends SelectHTMLAttributes<HTMLSelectElement> {
  label: string;
  options: readonly { value: string; label: string }[];
}

/** The browser's own select, in the console's looks. The label is for screen readers. */
export function Select({ label, options, className = "", ...rest }: SelectProps) {
  return (
    <select
      className={`min-h-6 px-1.5 border border-line rounded-[13px] bg-surface text-sm pointer-coarse:min-h-11 ${className}`}
      aria-label={label}
      {...rest}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}
