import type { ReactNode } from "react";

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
    <div className="flex flex-col items-center gap-2.5 max-w-95 mt-[15vh] mx-auto mb-0 p-6 text-center">
      {icon}
      <Heading className="text-lg leading-normal">{title}</Heading>
      {children && <div className="text-ink-3 wrap-anywhere">{children}</div>}
      {action}
    </div>
  );
}
