import type { Pending } from "@/api/people";

/** What waits, by its run; the runs in the order of their first. */
export function byRun(pending: readonly Pending[]): readonly (readonly [Pending, ...Pending[]])[] {
  const runs = new Map<string, [Pending, ...Pending[]]>();
  for (const each of pending) {
    const others = runs.get(each.run_id);
    if (others) others.push(each);
    else runs.set(each.run_id, [each]);
  }
  return [...runs.values()];
}
