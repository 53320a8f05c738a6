import type { MarkKind } from "@/parts/Mark";
import type { Mark } from "@/run/marks";

const KINDS: readonly MarkKind[] = [
  "not-asked",
  "success",
  "failure",
  "running",
  "running",
  "halted",
  "error",
  "success",
];

/** The sign of a mark. */
export function markKind(mark: Mark): MarkKind {
  return KINDS[mark] ?? "not-asked";
}
