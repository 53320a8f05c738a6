/**
 * The place of the answers that nobody looks at: one connection for all of them, in all tabs of this browser, which they
 * have in turn.
 *
 * Each must be read now and then, because the service cancels a run that has had no reader for a minute. A browser has
 * only six connections to a service over HTTP/1.1, and those that are looked at need them.
 */
const NAME = "oracle.background";

/** How long an answer has the place while others wait for it. */
export const TURN_MS = 5_000;

/** Browsers have no locks on pages that came over plain HTTP from another machine. Then each answer has a place. */
const locks = (): LockManager | undefined => (navigator as Partial<Navigator>).locks;

/**
 * Wait for the place.
 *
 * @returns what gives it back.
 * @throws an `AbortError` after `signal`.
 */
export function takePlace(signal: AbortSignal): Promise<() => void> {
  const own = locks();
  if (!own) return Promise.resolve(() => undefined);
  return new Promise((resolve, reject) => {
    own
      .request(
        NAME,
        { signal },
        () =>
          new Promise<void>((release) => {
            resolve(release);
          }),
      )
      .catch(reject);
  });
}

/** Others wait for the place. */
export async function isPlaceWanted(): Promise<boolean> {
  const pending = (await locks()?.query())?.pending ?? [];
  return pending.some(({ name }) => name === NAME);
}
