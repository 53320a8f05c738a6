/** Conversations by the day on which they were used last. */

export interface DayGroup<T> {
  readonly name: "Today" | "Yesterday" | "Older";
  readonly items: readonly T[];
}

/** The groups that have items, the latest first; the order within a group stays. */
export function byDay<T extends { updated_at: string }>(items: readonly T[], now: Date): DayGroup<T>[] {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1).getTime();
  const nameOf = (item: T): DayGroup<T>["name"] => {
    const at = Date.parse(item.updated_at);
    if (at >= today) return "Today";
    return at >= yesterday ? "Yesterday" : "Older";
  };
  return (["Today", "Yesterday", "Older"] as const)
    .map((name) => ({ name, items: items.filter((item) => nameOf(item) === name) }))
    .filter((group) => group.items.length > 0);
}
