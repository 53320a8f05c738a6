import { Link } from "wouter";

import { FileIcon } from "@/parts/icons";
import { Mark } from "@/parts/Mark";

import { treeHref } from "./address";
import { draftNames } from "@/store/drafts";
import type { TreeHead } from "./types";

interface FilesProps {
  name: string;
  trees: readonly TreeHead[];
  isDirty: boolean;
  /** The run that is replayed; it goes along to other trees. */
  replayed: string | null;
}

/** All trees, with a mark on those that have mistakes, or a text that is not saved. */
export function Files({ name, trees, isDirty, replayed }: FilesProps) {
  const drafts = new Set(draftNames().filter((each) => each !== name));
  if (isDirty) drafts.add(name);
  const names = trees.map((tree) => tree.name);
  const isNew = !names.includes(name);
  return (
    <nav className="editor-files" aria-label="Files">
      <h2>Trees</h2>
      <ul>
        {[...trees, ...(isNew ? [{ name, mistake_count: 0 }] : [])].map((tree) => (
          <li key={tree.name}>
            <Link
              href={treeHref(tree.name, { replay: replayed })}
              aria-current={tree.name === name ? "page" : undefined}
            >
              <FileIcon size={14} />
              <span className="truncate">{tree.name}</span>
              {tree.mistake_count > 0 && <Mark kind="error" label="has mistakes" />}
              {drafts.has(tree.name) && (
                <i className="editor-files-draft" role="img" aria-label="not saved" />
              )}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
