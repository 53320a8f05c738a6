/** Values of the blackboard and of expressions, as short texts. */

/** The service's text for what was left out of an export. */
const OMITTED = "…";

/** A value as people read it: numbers with separators, all else as JSON; cut off behind `longest` characters. */
export function valueText(value: unknown, longest = 60): string {
  let text: string;
  if (typeof value === "number") text = value.toLocaleString("en", { maximumFractionDigits: 3 });
  else if (value === undefined) text = "unknown";
  else if (value === OMITTED) text = OMITTED;
  else text = JSON.stringify(value);
  return cut(text, longest);
}

/** The text, with an ellipsis in place of what is too long. */
export function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, Math.max(0, longest - 1))}…` : text;
}

/** As expressions of trees take a value: empty texts and lists are false, and so are zero and null. */
export function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** `1 line`, `5 lines`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
