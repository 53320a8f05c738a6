import type { ReactNode } from "react";
import { Mark } from "@/parts/Mark";
import "./FiguresStrip.css";

/** Above a run without its texts: says why they are gone. */
export function FiguresStrip({ children }: { children: ReactNode }) {
  return (
    <p className="figures-strip" role="status">
      <Mark kind="info" size={14} label={null} />
      <span>
        <b>Figures only.</b> {children}
      </span>
    </p>
  );
}
