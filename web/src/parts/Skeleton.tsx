import { useEffect, useState } from "react";

const WIDTHS = [215, 118, 163, 118, 183, 118];
const INDENTS = [0, 13, 26, 26, 39, 26];
const PATIENCE_MS = 150;

/** Rows that are being loaded. Nothing is drawn for 150 ms; then this, without movement. */
export function Skeleton({ label = "Loading" }: { label?: string }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="skeleton flex flex-col gap-3 p-4" role="status" aria-label={label}>
      {isShown &&
        WIDTHS.map((width, index) => (
          <div key={index} className="flex items-center gap-3" style={{ marginLeft: INDENTS[index] }}>
            <i className="size-3 rounded-full bg-surface-3" />
            <b className="h-2 rounded-[4px] bg-surface-3" style={{ width }} />
          </div>
        ))}
    </div>
  );
}
