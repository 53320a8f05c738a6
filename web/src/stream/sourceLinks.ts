/** Places in the text of an answer (`login.py:12`) that are sources of it. */
import type { Source } from "./chunks";

const LONGEST_PLACE = 1_100;
const PLACE = /^([^\s:]+(?:\/[^\s:]+|\.[A-Za-z0-9]+))(?::(\d{1,7})(?:[-–]\d{1,7})?)?$/;

/** The source that a piece of code names, at the line that it names; null if it names none. */
export function sourceNamed(code: string, sources: readonly Source[]): Source | null {
  if (code.length > LONGEST_PLACE) return null;
  const match = PLACE.exec(code.trim());
  const path = match?.[1];
  if (path === undefined) return null;
  const line = match?.[2] === undefined ? null : Number(match[2]);
  const own = sources.filter((source) => source.path === path || source.path.endsWith(`/${path}`));
  const exact = own.find((source) => source.line === line) ?? own[0];
  return exact ? { ...exact, line: line ?? exact.line ?? null } : null;
}

/** One chip for each file: its sources at the best line, with the lines of all. */
export function withoutRepeats(sources: readonly Source[]): Source[] {
  const seen = new Set<string>();
  return sources.filter((source) => {
    const key = `${source.source_type} ${source.path} ${source.line ?? ""}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
