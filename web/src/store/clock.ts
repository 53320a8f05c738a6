/** The service's clock. That of the browser may go wrong by minutes; what the service dates is compared with its own. */
const EXACT_MS = 2_000; // the dates of responses have whole seconds, and take a while to come

let aheadMs = 0;

/** Take note of the date of a response that has just come. */
export function hearDate(date: string | null): void {
  const at = Date.parse(date ?? "");
  if (Number.isNaN(at)) return;
  const ahead = at - Date.now();
  aheadMs = Math.abs(ahead) < EXACT_MS ? 0 : ahead;
}

/** A moment of this browser by the service's clock, in milliseconds; without one it is now. */
export const serviceTime = (at: number = Date.now()): number => at + aheadMs;

/** Wait; rejects with an `AbortError` after `signal`. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new DOMException("The wait was stopped.", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
