import type { ReactNode } from "react";
import "./EmptyState.css";

interface EmptyStateProps {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  /** It stands for a whole page, whose heading it has. */
  isPage?: boolean;
}

/** A list or a page without anything in it: what that means, and what can be done. */
export function EmptyState({ icon, title, children, action, isPage = false }: EmptyStateProps) {
  const Heading = isPage ? "h1" : "h2";
  return (
    <div className="empty-state">
      {icon}
      <Heading>{title}</Heading>
      {children && <div className="empty-state-text">{children}</div>}
      {action}
    </div>
  );
}
