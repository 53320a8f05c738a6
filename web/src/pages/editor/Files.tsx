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

const FILE =
  "flex items-center gap-2 h-7 px-2 rounded-md no-underline hover:bg-surface-2 aria-[current=page]:bg-surface-3";

/** All trees, with a mark on those that have mistakes, or a text that is not saved. */
export function Files({ name, trees, isDirty, replayed }: FilesProps) {
  const drafts = new Set(draftNames().filter((each) => each !== name));
  if (isDirty) drafts.add(name);
  const names = trees.map((tree) => tree.name);
  const isNew = !names.includes(name);
  return (
    <nav className="hidden p-2 overflow-auto border-r border-line min-[1500px]:block" aria-label="Files">
      <h2 className="py-1 px-2 text-ink-2 text-xs">Trees</h2>
      <ul className="list-none">
        {[...trees, ...(isNew ? [{ name, mistake_count: 0 }] : [])].map((tree) => (
          <li key={tree.name}>
            <Link
              className={FILE}
              href={treeHref(tree.name, { replay: replayed })}
              aria-current={tree.name === name ? "page" : undefined}
            >
              <FileIcon size={14} />
              <span className="flex-1 truncate">{tree.name}</span>
              {tree.mistake_count > 0 && <Mark kind="error" label="has mistakes" />}
              {drafts.has(tree.name) && (
                <i className="size-[7px] rounded-full bg-warn-fill" role="img" aria-label="not saved" />
              )}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
