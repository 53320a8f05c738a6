import { useEffect, useState } from "react";

/** The time in milliseconds, as `Date.now`; goes on while `isRunning`. */
export function useNow(everyMs: number, isRunning: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, isRunning]);
  return now;
}
