import { useCallback, useSyncExternalStore } from "react";

/** Screens for reading: a phone. */
export const NARROW = "(width < 700px)";

/** Whether a media query holds now: `(width >= 1500px)`. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (tell: () => void) => {
      const list = window.matchMedia(query);
      list.addEventListener("change", tell);
      return () => list.removeEventListener("change", tell);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}
