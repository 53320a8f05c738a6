/** What of a run is shown, kept in the address. */
import { useEffect, useState } from "react";
import { readAddress, writeAddress, type Address, type ChangeAddress } from "./address";

const SETTLED_MS = 200; // browsers refuse an address that changes with each tick of a scrub

export function useView(): readonly [Address, ChangeAddress] {
  const [view, setView] = useState(() => readAddress(window.location.search));
  useEffect(() => {
    const timer = setTimeout(() => {
      const query = writeAddress(view);
      if (query !== window.location.search)
        window.history.replaceState(window.history.state, "", window.location.pathname + query);
    }, SETTLED_MS);
    return () => clearTimeout(timer);
  }, [view]);
  return [view, (changes) => setView((before) => ({ ...before, ...changes }))];
}
