import { usePendingCount } from "@/api/people";

const LOOK = "ml-1.5 px-1.5 rounded-[10px] bg-ink text-on-ink text-xs font-strong";

/** How many things wait for this user; nothing where none does. */
export function WaitingCount() {
  const count = usePendingCount();
  return count === null ? null : <span className={LOOK}>{count}</span>;
}
