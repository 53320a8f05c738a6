/** A tool call in one line: the argument that says most. */

const TELLING = ["query", "path", "thread", "folder", "title", "url"];

/** “retry policy”, “bt_runtime/run_loop.py:1–120”. Empty if the call has no arguments. */
export function callSummary(args: Readonly<Record<string, unknown>>): string {
  const place = placeOf(args);
  if (place) return place;
  const telling = TELLING.map((name) => args[name]).find(
    (value) => typeof value === "string" && value !== "",
  );
  if (typeof telling === "string") return oneLine(telling);
  const [first] = Object.values(args);
  if (first === undefined) return "";
  return oneLine(typeof first === "string" ? first : JSON.stringify(first));
}

function placeOf({ path, start_line: from, end_line: to }: Readonly<Record<string, unknown>>): string | null {
  if (typeof path !== "string" || typeof from !== "number") return null;
  return oneLine(typeof to === "number" ? `${path}:${from}–${to}` : `${path}:${from}`);
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
