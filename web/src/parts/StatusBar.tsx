import type { ReactNode } from "react";
import { Kbd } from "./Kbd";

interface StatusBarProps {
  /** Left: a legend, or the keys that work here. */
  children?: ReactNode;
  keys?: readonly (readonly [keys: readonly string[], does: string])[];
  /** Right, after the keys. */
  note?: ReactNode;
}

/** The line at the foot of a page. */
export function StatusBar({ children, keys = [], note }: StatusBarProps) {
  return (
    <footer className="flex flex-none items-center justify-between gap-4 h-6.5 px-3 border-t border-line bg-surface text-ink-3 text-xs whitespace-nowrap overflow-hidden max-narrow:hidden">
      <div className="flex items-center gap-3.5">
        {children}
        {children === undefined && <Keys keys={keys} />}
      </div>
      <div className="flex items-center gap-3.5 max-[1000px]:hidden">
        {children !== undefined && <Keys keys={keys} />}
        {note}
      </div>
    </footer>
  );
}

function Keys({ keys }: Required<Pick<StatusBarProps, "keys">>) {
  return keys.map(([combinations, does]) => (
    <span key={does} className="inline-flex items-center gap-1">
      {combinations.map((each) => (
        <Kbd key={each} keys={each} />
      ))}
      {does}
    </span>
  ));
}
