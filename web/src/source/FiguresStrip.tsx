import type { ReactNode } from "react";
import { Mark } from "@/parts/Mark";

/** Above a run without its texts: says why they are gone. */
export function FiguresStrip({ children }: { children: ReactNode }) {
  return (
    <p
      className="flex flex-none items-center gap-2.5 py-2 px-4 border-b border-line bg-surface-2"
      role="status"
    >
      <Mark kind="info" size={14} label={null} />
      <span>
        <b className="font-strong">Figures only.</b> {children}
      </span>
    </p>
  );
}
