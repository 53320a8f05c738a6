/** What of the editor stands in its address. */
import type { View } from "./EditorHead";

/** The view: `?view=versions`. */
export function viewIn(search: string, isOperator: boolean): View {
  return isOperator && new URLSearchParams(search).get("view") === "versions" ? "versions" : "source";
}

/** The place to which the text is scrolled: `?line=14&column=9`. */
export function placeIn(search: string): { line: number; column: number } | null {
  const parameters = new URLSearchParams(search);
  const line = Number(parameters.get("line"));
  const column = Number(parameters.get("column") ?? 1);
  return Number.isInteger(line) && line > 0
    ? { line, column: Number.isInteger(column) && column > 0 ? column : 1 }
    : null;
}

/** The run that is replayed on the text: `?replay=4f02c1aa…`. */
export function replayedIn(search: string): string | null {
  const runId = new URLSearchParams(search).get("replay") ?? "";
  return /^[0-9a-f]{32}$/.test(runId) ? runId : null;
}

/** The address of a tree; what is null is left out. */
export function treeHref(name: string, named: Readonly<Record<string, string | number | null>> = {}): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(named)) if (value !== null) query.set(key, String(value));
  const text = query.toString();
  return `/trees/${encodeURIComponent(name)}${text && `?${text}`}`;
}
