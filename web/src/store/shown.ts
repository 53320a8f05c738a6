/**
 * Whether this tab is looked at. A browser has six connections to a service over HTTP/1.1, for all of its tabs: what only
 * the eye needs is read while the tab is shown.
 */
const PATIENCE_MS = 2_000; // so that a glance at another tab changes nothing

const listeners = new Set<() => void>();
let shown = document.visibilityState === "visible";
let timer: ReturnType<typeof setTimeout> | undefined;

function become(next: boolean): void {
  if (shown === next) return;
  shown = next;
  for (const listener of [...listeners]) listener();
}

document.addEventListener("visibilitychange", () => {
  clearTimeout(timer);
  if (document.visibilityState === "visible") become(true);
  else timer = setTimeout(() => become(false), PATIENCE_MS);
});

/** False when the tab has been hidden for two seconds. */
export const isShown = (): boolean => shown;

/** Have the listener called when `isShown` has changed. */
export function onShown(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns when the tab is shown; at once if it is, or if the signal has been given. */
export function untilShown(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!shown && !signal.aborted) return;
      stop();
      signal.removeEventListener("abort", look);
      resolve();
    };
    const stop = onShown(look);
    signal.addEventListener("abort", look);
    look();
  });
}

/** A signal that is given when the tab is hidden, or with another signal. Call `release` when it is not needed any more. */
export function whileShown(signal: AbortSignal): { signal: AbortSignal; release: () => void } {
  const hidden = new AbortController();
  const look = () => {
    if (!shown || signal.aborted) hidden.abort();
  };
  const stop = onShown(look);
  signal.addEventListener("abort", look);
  look();
  return {
    signal: hidden.signal,
    release: () => {
      stop();
      signal.removeEventListener("abort", look);
    },
  };
}
