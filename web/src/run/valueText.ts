/** A blackboard value on one line, as JSON; numbers with separators of thousands. */
export function valueText(value: unknown, longest = 200, indent = 0): string {
  if (value === undefined) return "unknown";
  if (typeof value === "number") return value.toLocaleString("en", { maximumFractionDigits: 3 });
  const text = JSON.stringify(value, null, indent);
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
