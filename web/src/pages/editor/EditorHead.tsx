import { Link } from "wouter";

import { Badge } from "@/parts/Badge";
import { Button } from "@/parts/Button";
import { number, plural } from "@/parts/format";
import { Segmented } from "@/parts/Segmented";

import type { ChangeCounts } from "./source/changes";
import type { Tree, TreeHead } from "./types";
import type { Edited } from "./useDraft";
import { Uses } from "./Uses";

export type View = "source" | "difference" | "versions";

interface EditorHeadProps {
  name: string;
  tree: Tree | null;
  trees: readonly TreeHead[];
  edited: Edited;
  errors: number;
  counts: ChangeCounts;
  view: View;
  onView: (view: View) => void;
  isReadOnly: boolean;
  canSave: boolean;
  onSave: () => void;
  onDiscard: () => void;
}

const HEAD = "flex flex-none items-center gap-2.5 min-h-12 px-4 border-b border-line";
const NARROW_HEAD = "max-narrow:flex-wrap max-narrow:py-2 max-narrow:px-3";

/** Which file it is, how it stands, who uses it, and saving. */
export function EditorHead(props: EditorHeadProps) {
  const { name, tree, trees, edited, errors, counts, view, isReadOnly } = props;
  return (
    <header className={`${HEAD} ${NARROW_HEAD}`}>
      <h1 className="text-md font-regular whitespace-nowrap">
        <Link className="text-ink-3 no-underline hover:text-ink" href="/trees">
          Trees /
        </Link>{" "}
        <span className="ml-1.5 [font:var(--w-medium)_var(--t-lg)_/_1_var(--mono)]">{name}.yaml</span>
      </h1>
      <State errors={errors} isDirty={edited.isDirty} isNew={tree === null} />
      <Uses tree={tree} trees={trees} />
      <div className="flex flex-none items-center gap-2 ml-auto max-narrow:ml-0">
        <Segmented<View>
          label="View"
          value={view}
          onChange={props.onView}
          options={[
            { value: "source", label: "Source" },
            {
              value: "difference",
              label: (
                <>
                  Difference{" "}
                  {edited.isDirty && (
                    <span className="ml-1">
                      +{counts.added} −{counts.removed}
                    </span>
                  )}
                </>
              ),
            },
            ...(tree && !isReadOnly ? [{ value: "versions" as const, label: <Versions tree={tree} /> }] : []),
          ]}
        />
        {!isReadOnly && (
          <>
            <Button disabled={!edited.isDirty} onClick={props.onDiscard}>
              Discard
            </Button>
            <Button variant="primary" keys="mod+s" disabled={!props.canSave} onClick={props.onSave}>
              <span>
                Save<span className="hidden min-[1500px]:inline"> for next questions</span>
              </span>
            </Button>
          </>
        )}
      </div>
    </header>
  );
}

function Versions({ tree }: { tree: Tree }) {
  if (tree.version_count === null) return "Versions";
  return (
    <>
      Versions <span className="ml-1">{number(tree.version_count)}</span>
    </>
  );
}

function State({ errors, isDirty, isNew }: { errors: number; isDirty: boolean; isNew: boolean }) {
  if (errors > 0) return <Badge tone="err">{plural(errors, "mistake")}</Badge>;
  if (isNew) return <Badge tone="warn">new, not saved</Badge>;
  if (isDirty) return <Badge tone="warn">not saved</Badge>;
  return null;
}
