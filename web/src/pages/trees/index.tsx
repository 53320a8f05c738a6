import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link, useLocation } from "wouter";

import { useMe, useTrees } from "@/api/queries";
import { StatusBar } from "@/parts/StatusBar";
import { Button } from "@/parts/Button";
import { EmptyState } from "@/parts/EmptyState";
import { number, plural } from "@/parts/format";
import { SearchIcon } from "@/parts/icons";
import { Kbd } from "@/parts/Kbd";
import { Problem } from "@/parts/Problem";
import { Skeleton } from "@/parts/Skeleton";
import { useKeys } from "@/store/keys";
import { NARROW, useMedia } from "@/store/media";
import { useTitle } from "@/store/title";

import { treeQuery } from "@/api/trees";
import type { TreeHead } from "@/api/types";
import { NewTree } from "./NewTree";
import { linkId, TreeTable } from "./TreeTable";
import { useExamination } from "./useExamination";

/** All trees: what uses them, how they stand, and how the queries of a day went. */
export default function Trees() {
  useTitle("Trees");
  const { data, error, isPending } = useTrees();
  const isOperator = useMe().data?.is_operator ?? false;
  const [search, setSearch] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const [isNew, setNew] = useState(false);
  const [, go] = useLocation();
  const first = useMe().data?.tree;
  const trees = useMemo(() => inOrder(data?.trees ?? [], first), [data, first]);
  const shown = trees.filter((tree) => matches(tree, search));
  const selected = shown.find((tree) => tree.name === chosen) ?? shown[0];
  const isNarrow = useMedia(NARROW);
  const examination = useExamination(trees);

  const move = (step: number) => {
    const next = selected && shown[shown.indexOf(selected) + step];
    if (next) document.getElementById(linkId(next))?.focus(); // which selects it
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: (event) => {
      if (!selected || isControl(event.target)) return false; // a link or button has its own
      go(`/trees/${selected.name}`);
      return true;
    },
    v: () => {
      if (selected && isOperator) go(`/trees/${selected.name}?view=versions`);
    },
    r: () => {
      if (selected) go(`/runs?tree=${encodeURIComponent(selected.name)}`);
    },
    "/": () => document.getElementById(SEARCH)?.focus(),
  });

  if (isPending) return <Skeleton label="Loading the trees" />;
  if (error)
    return (
      <EmptyState isPage title="The trees cannot be listed">
        {error.message}
      </EmptyState>
    );
  return (
    <div className="flex flex-col h-full min-h-0">
      <div className="flex-1 [&>.problem]:mb-3 min-h-0 py-4 px-5 overflow-auto max-narrow:p-4">
        <header className="flex items-center gap-2 mb-3 max-narrow:flex-wrap">
          <h1>Trees</h1>
          <p className="flex-1 text-ink-3 max-narrow:basis-full max-narrow:-mt-1">
            {plural(trees.length, "tree")}
            {data.folder && (
              <>
                : those in <code title={data.folder}>{data.folder.split(/[/\\]/).at(-1)}</code>, and the
                shipped ones
              </>
            )}
          </p>
          <label className="field gap-2 w-55 h-7 pr-1.5 pl-2 border-line text-ink-3 max-narrow:w-full max-narrow:h-9">
            <SearchIcon size={14} />
            <input
              id={SEARCH}
              className="w-0 p-0 text-ink placeholder:text-ink-3"
              type="search"
              placeholder="Name or description…"
              aria-label="Search trees"
              value={search}
              onChange={(event) => {
                setSearch(event.target.value);
                setChosen(null);
              }}
              onKeyDown={(event) => {
                if (event.key === "Enter" && selected) go(`/trees/${selected.name}`);
              }}
            />
            {!isNarrow && <Kbd keys="/" />}
          </label>
          {isOperator && !isNarrow && (
            <>
              {examination.isThere && (
                <Button disabled={examination.isBusy} onClick={examination.begin}>
                  {examination.isBusy ? `Checking ${number(examination.left)}…` : "Check all"}
                </Button>
              )}
              <Button variant="primary" onClick={() => setNew(true)}>
                New tree
              </Button>
            </>
          )}
        </header>
        {data.problem && <Problem title="The folder of trees cannot be read.">{data.problem}</Problem>}
        {trees
          .filter((tree) => tree.mistake_count > 0)
          .map((tree) => (
            <Mistakes key={tree.name} tree={tree} />
          ))}
        {shown.length === 0 ? (
          <EmptyState title={`No tree has “${search}” in its name`} />
        ) : (
          <TreeTable
            trees={shown}
            all={trees}
            selected={selected?.name}
            onSelect={setChosen}
            isOperator={isOperator}
          />
        )}
        <p className="flex gap-3 [&>span]:before:inline-block [&>span]:before:w-2.5 [&>span]:before:h-2 [&>span]:before:mr-1.25 [&>span]:before:rounded-[2px] py-3 px-0.5 text-ink-3 text-sm">
          <span className="before:bg-ok-fill">completed</span>
          <span className="before:bg-warn-fill">stopped by a limit, stuck or cancelled</span>
          <span className="before:bg-err-fill">failed</span>
        </p>
      </div>
      <StatusBar
        keys={[
          [["Enter"], "open"],
          [["j", "k"], "move"],
          ...(isOperator ? [[["v"], "versions"] as const] : []),
          [["r"], "its runs"],
          [["/"], "search"],
        ]}
      />
      {isNew && <NewTree trees={trees} onClose={() => setNew(false)} />}
    </div>
  );
}

const SEARCH = "trees-search";

const isControl = (target: EventTarget | null) =>
  target instanceof Element && target.closest("a, button") !== null;

/** The tree that questions use first, then those that they may name, then the parts of trees. */
function inOrder(trees: readonly TreeHead[], first: string | undefined): TreeHead[] {
  const rank = (tree: TreeHead) => (tree.name === first ? 0 : tree.internal ? 2 : 1);
  return trees.toSorted((a, b) => rank(a) - rank(b));
}

function matches(tree: TreeHead, search: string): boolean {
  const words = search.toLowerCase().split(/\s+/);
  return words.every((word) => `${tree.name} ${tree.description}`.toLowerCase().includes(word));
}

/** A file with mistakes: what serves meanwhile, and the first mistake. */
function Mistakes({ tree }: { tree: TreeHead }) {
  const first = useQuery(treeQuery(tree.name)).data?.mistakes[0];
  const serving = tree.run_version
    ? `The previous version, ${tree.run_version.slice(0, 7)}, stays in use.`
    : "It has never had a valid version, so no question can use it.";
  const name = first?.file.replace(/\.yaml$/, "") ?? tree.name;
  return (
    <Problem
      title={`${tree.name}.yaml has ${plural(tree.mistake_count, "mistake")}.`}
      action={
        <Link
          href={first ? `/trees/${name}?line=${first.line}&column=${first.column}` : `/trees/${tree.name}`}
        >
          {first ? `Open line ${first.line}` : "Open"}
        </Link>
      }
    >
      {serving}
      {first && ` Line ${first.line}, column ${first.column}: ${first.message}.`}
      {first?.hint && ` ${first.hint.charAt(0).toUpperCase()}${first.hint.slice(1)}`}
    </Problem>
  );
}
