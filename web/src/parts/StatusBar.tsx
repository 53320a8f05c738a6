import type { ReactNode } from "react";
import { Kbd } from "./Kbd";
import "./StatusBar.css";

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
    <footer className="status-bar">
      <div>
        {children}
        {children === undefined && <Keys keys={keys} />}
      </div>
      <div>
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
