import { useEffect, useState } from "react";

import { dropDraft, keepDraft, readDraft } from "@/store/drafts";
import type { Tree } from "./types";

/** The text that is edited, and the saved one that it was made from. */
export interface Edited {
  text: string;
  /** The version that it was made from; null for a new tree. */
  base: string | null;
  /** It differs from the saved text. */
  isDirty: boolean;
  /** Another version was saved since. */
  isOutdated: boolean;
  change: (text: string) => void;
  /** Go on from a version that is saved: take its text, or keep this one and save over it. */
  rebase: (tree: Tree, text?: string) => void;
}

/** A draft of a tree. Without own changes it follows what is saved. */
export function useDraft(name: string, tree: Tree | null): Edited {
  const [draft, setDraft] = useState(() => readDraft(name));
  const saved = tree?.source ?? "";
  const version = tree?.version ?? null;
  const base = draft ? draft.base : version;
  const isOutdated = draft !== null && draft.base !== version;
  const isDirty = draft !== null && (draft.text !== saved || isOutdated);

  useEffect(() => {
    if (draft) keepDraft(name, draft);
    else dropDraft(name);
  }, [name, draft]);

  useEffect(() => {
    if (!isDirty) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isDirty]);

  return {
    text: draft?.text ?? saved,
    base,
    isDirty,
    isOutdated,
    change: (text) => {
      setDraft((now) => {
        const from = now ? now.base : version;
        return text === saved && from === version ? null : { text, base: from };
      });
    },
    rebase: (onto, text) => {
      setDraft(text === undefined || text === onto.source ? null : { text, base: onto.version });
    },
  };
}
