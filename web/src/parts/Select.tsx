import type { SelectHTMLAttributes } from "react";
import "./Select.css";

interface SelectProps extends SelectHTMLAttributes<HTMLSelectElement> {
  label: string;
  options: readonly { value: string; label: string }[];
}

/** The browser's own select, in the console's looks. The label is for screen readers. */
export function Select({ label, options, className = "", ...rest }: SelectProps) {
  return (
    <select className={`select ${className}`} aria-label={label} {...rest}>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}
