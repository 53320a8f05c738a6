import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import { Link } from "wouter";
import { Kbd } from "./Kbd";
import "./Button.css";

export type ButtonVariant = "plain" | "primary" | "ghost" | "danger";

interface Look {
  variant?: ButtonVariant;
  size?: "small" | "medium";
  icon?: ReactNode;
  /** The keys that do the same: `mod+s`. */
  keys?: string;
  children?: ReactNode;
}

export interface ButtonProps extends Look, ButtonHTMLAttributes<HTMLButtonElement> {
  ref?: Ref<HTMLButtonElement>;
}

const looks = (variant: ButtonVariant, size: string, isIcon: boolean, more = "") =>
  `button button-${variant} button-${size}${isIcon ? " button-icon" : ""} ${more}`.trim();

/** A button; one with an icon alone needs an `aria-label`. */
export function Button({
  variant = "plain",
  size = "medium",
  icon,
  keys,
  children,
  className,
  type = "button",
  ...rest
}: ButtonProps) {
  return (
    <button type={type} className={looks(variant, size, children === undefined, className)} {...rest}>
      {icon}
      {children}
      {keys !== undefined && <Kbd keys={keys} />}
    </button>
  );
}

interface LinkButtonProps extends Look {
  href: string;
  className?: string;
  "aria-label"?: string;
}

/** A link to a page of the console that looks like a button. */
export function LinkButton({
  variant = "plain",
  size = "medium",
  icon,
  keys,
  children,
  className,
  ...rest
}: LinkButtonProps) {
  return (
    <Link className={looks(variant, size, children === undefined, className)} {...rest}>
      {icon}
      {children}
      {keys !== undefined && <Kbd keys={keys} />}
    </Link>
  );
}
