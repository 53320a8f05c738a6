/** Texts that are not saved yet: kept in this tab, so that a reload of the page loses none. */

const PREFIX = "oracle.draft.";

/** A text of a tree, and the version that it was made from. */
export interface Draft {
  text: string;
  /** Null for a tree that does not exist yet. */
  base: string | null;
}

export function readDraft(name: string): Draft | null {
  try {
    const found: unknown = JSON.parse(sessionStorage.getItem(PREFIX + name) ?? "null");
    if (typeof found !== "object" || found === null) return null;
    const { text, base } = found as Partial<Record<keyof Draft, unknown>>;
    return typeof text === "string" && (base === null || typeof base === "string") ? { text, base } : null;
  } catch {
    return null;
  }
}

export function keepDraft(name: string, draft: Draft): void {
  try {
    sessionStorage.setItem(PREFIX + name, JSON.stringify(draft));
  } catch {
    // without storage, or with too much in it, the text lives as long as the page
  }
}

export function dropDraft(name: string): void {
  try {
    sessionStorage.removeItem(PREFIX + name);
  } catch {
    // there is none, then
  }
}

/** The trees that have one. */
export function draftNames(): string[] {
  try {
    const keys = Array.from({ length: sessionStorage.length }, (_, at) => sessionStorage.key(at) ?? "");
    return keys.filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length));
  } catch {
    return [];
  }
}
