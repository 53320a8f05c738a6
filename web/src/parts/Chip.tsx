import type { ButtonHTMLAttributes, ReactNode } from "react";
import "./Chip.css";

interface ChipProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon?: ReactNode;
  count?: number | undefined;
  /** For chips that are switched: pressed or not. */
  pressed?: boolean;
  shape?: "round" | "square";
}

const SHAPES = { round: "rounded-[22px]", square: "rounded-md" };

/** A small button: a filter that is on or off, a choice, a source. */
export function Chip({
  icon,
  count,
  pressed,
  shape = "round",
  children,
  className = "",
  ...rest
}: ChipProps) {
  return (
    <button type="button" className={`chip ${SHAPES[shape]} ${className}`} aria-pressed={pressed} {...rest}>
      {icon}
      {children}
      {count !== undefined && <span className="chip-count text-ink-3">{count.toLocaleString("en")}</span>}
    </button>
  );
}
