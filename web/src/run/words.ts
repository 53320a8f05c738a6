/** Values of the blackboard and of expressions, and names of nodes, as short texts. */
import type { NodeFacts } from "./facts";

/** The service's text for what was left out of an export. */
export const OMITTED = "…";

/** A value as people read it: numbers with separators, all else as JSON; cut off behind `longest` characters. */
export function valueText(value: unknown, longest = 60, indent = 0): string {
  if (value === undefined) return "unknown";
  if (value === OMITTED) return OMITTED;
  if (typeof value === "number") return value.toLocaleString("en", { maximumFractionDigits: 3 });
  return cut(JSON.stringify(value, null, indent), longest);
}

/** The text, with an ellipsis in place of what is too long. */
export function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, Math.max(0, longest - 1))}…` : text;
}

/** What people call a node. */
export function titleOf(node: NodeFacts | undefined): string {
  if (node === undefined) return "a node";
  return [node.title, node.name].find((text) => text) ?? node.kind;
}

/** The place of a node, short: `oracle:22`. */
export function placeOf(node: NodeFacts): string {
  return `${node.file.replace(/\.ya?ml$/, "")}:${String(node.line)}`;
}

/** `1 line`, `5 lines`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
