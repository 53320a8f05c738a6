import { Mark, type MarkKind } from "@/parts/Mark";

const ENTRIES: readonly (readonly [MarkKind, string])[] = [
  ["success", "success"],
  ["failure", "failure: the answer “no”"],
  ["running", "running"],
  ["not-asked", "not asked"],
  ["error", "error"],
];

/** What the marks mean. */
export function Legend() {
  return ENTRIES.map(([kind, words]) => (
    <span key={kind} className="inline-flex items-center gap-1.5">
      <Mark kind={kind} size={10} label={null} />
      {words}
    </span>
  ));
}
