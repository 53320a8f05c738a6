import { useCallback, useLayoutEffect, useRef } from "react";

/** A function that stays the same and calls the newest one, so that what is memoised is not drawn again for it. */
export function useStable<Args extends readonly unknown[]>(
  call: (...args: Args) => void,
): (...args: Args) => void {
  const newest = useRef(call);
  useLayoutEffect(() => {
    newest.current = call;
  });
  return useCallback((...args: Args) => newest.current(...args), []);
}
