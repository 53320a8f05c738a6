import { useEffect, useState } from "react";
import "./Skeleton.css";

const WIDTHS = [215, 118, 163, 118, 183, 118];
const INDENTS = [0, 13, 26, 26, 39, 26];
const PATIENCE_MS = 150;

/** Rows that are being loaded. Nothing is drawn for 150 ms; then this, without movement. */
export function Skeleton({ label = "Loading" }: { label?: string }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      setShown(true);
    }, PATIENCE_MS);
    return () => {
      clearTimeout(timer);
    };
  }, []);
  return (
    <div className="skeleton" role="status" aria-label={label}>
      {isShown &&
        WIDTHS.map((width, index) => (
          <div key={index} className="skeleton-row" style={{ marginLeft: INDENTS[index] }}>
            <i />
            <b style={{ width }} />
          </div>
        ))}
    </div>
  );
}
