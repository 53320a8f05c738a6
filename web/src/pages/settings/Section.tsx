import type { ReactNode } from "react";

const SCROLL =
  "pt-4 pr-6 pb-8 pl-44 max-[900px]:pt-3 max-[900px]:px-4 max-[900px]:pb-6 flex flex-1 flex-wrap content-start gap-7 min-h-0 overflow-auto";

interface SectionProps {
  title: string;
  lead: string;
  children: ReactNode;
  /** Beside it, on wide screens. */
  aside?: ReactNode;
  /** It has no control that a keyboard would scroll to. */
  isReadOnly?: boolean;
}

/** One of the settings' sections. */
export function Section({ title, lead, children, aside, isReadOnly = false }: SectionProps) {
  return (
    <div className={SCROLL} {...(isReadOnly && { tabIndex: 0, role: "group", "aria-label": title })}>
      <div className="flex-[1_1_560px] max-w-209">
        <h1>{title}</h1>
        <p className="mt-0.5 mb-4 text-ink-3">{lead}</p>
        {children}
      </div>
      {aside}
    </div>
  );
}

/** A group of settings that belong together. */
export function Card({ children, className = "" }: { children: ReactNode; className?: string }) {
  return (
    <section className={`settings-card mb-2.5 px-4 border border-line rounded-md bg-surface ${className}`}>
      {children}
    </section>
  );
}

interface SettingProps {
  name: ReactNode;
  text: ReactNode;
  children: ReactNode;
}

/** A line of a card: a setting or a fact, with what it means. */
export function Setting({ name, text, children }: SettingProps) {
  return (
    <div className="flex items-center justify-between gap-6 py-3 not-first:border-t border-line">
      <span>
        {name}
        <p className="text-ink-3 text-sm leading-tight">{text}</p>
      </span>
      {children}
    </div>
  );
}

/** What cannot be changed here. */
export const Fact = ({ children }: { children: string }) => (
  <span className="text-ink-3 font-mono text-sm whitespace-nowrap max-narrow:text-right max-narrow:whitespace-normal">
    {children}
  </span>
);
