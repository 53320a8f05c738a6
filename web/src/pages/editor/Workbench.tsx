import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useLocation, useSearch } from "wouter";

import { treeQuery, usesOf } from "@/api/trees";
import { api, unwrap } from "@/api/client";
import { useHasFeature, useMe, useTrees } from "@/api/queries";
import { StatusBar } from "@/parts/StatusBar";
import { toast } from "@/parts/Toast";
import { useBreakpoints } from "@/source/debug/useBreakpoints";
import { useKeys } from "@/store/keys";
import { NARROW, useMedia } from "@/store/media";
import { usePlaces } from "@/store/places";

import { answersQuery, saveTree, trials } from "./calls";
import { ConflictDialog } from "./ConflictDialog";
import { Difference } from "./Difference";
import { EditorHead, type View } from "./EditorHead";
import { Files } from "./Files";
import { NodePath } from "./NodePath";
import { placeIn, replayedIn, treeHref, viewIn } from "./address";
import { announceSave, followSaves } from "./otherTabs";
import { type Pane, Results } from "./Results";
import { SaveDialog } from "./SaveDialog";
import type { Breakable } from "./source/breakpoints";
import type { ChangeCounts } from "./source/changes";
import { type Cursor, SourceEditor, type SourceHandle } from "./source/SourceEditor";
import { treeNameAt } from "./source/subtrees";
import type { Conflict, Mistake, NodeAnswers, Tree, TreeHead } from "./types";
import { useDraft } from "./useDraft";
import { useSettled } from "./useSettled";
import { Versions } from "./Versions";

const CHECK_PAUSE_MS = 200;

const NOTICE = "flex flex-none flex-wrap items-center gap-3 py-2 px-4 border-b border-line";
const ANSWER = "p-0 border-0 bg-transparent text-inherit font-medium underline";
const COLUMNS =
  "max-narrow:grid-cols-1 grid-cols-[minmax(0,1fr)_352px] min-[1200px]:grid-cols-[minmax(0,1fr)_412px] min-[1500px]:grid-cols-[208px_minmax(0,1fr)_420px]";

interface WorkbenchProps {
  name: string;
  /** Null for a tree that does not exist yet. */
  tree: Tree | null;
  isOperator: boolean;
}

/** The editor of one tree: files, source and results, side by side. */
export function Workbench({ name, tree, isOperator }: WorkbenchProps) {
  const client = useQueryClient();
  const trees = useTrees().data?.trees ?? NO_TREES;
  const [, go] = useLocation();
  const search = useSearch();
  const place = placeIn(search);
  const replayed = replayedIn(search);
  const isNarrow = useMedia(NARROW);
  const isReadOnly = !isOperator || isNarrow;
  const canAsk = useHasFeature("editing") && isOperator;
  const edited = useDraft(name, tree);
  const source = useRef<SourceHandle>(null);
  const [view, setView] = useState<View>(() => viewIn(search, isOperator));
  const [pane, setPane] = useState<Pane>(() => (replayed === null ? "problems" : "replay"));
  const [counts, setCounts] = useState<ChangeCounts>({ added: 0, removed: 0 });
  const [cursor, setCursor] = useState<Cursor>({ line: 1, column: 1, path: [] });
  const [current, setCurrent] = useState(-1);
  const [isSaving, setSaving] = useState(false);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const [refused, setRefused] = useState<Refused | null>(null);

  const settled = useSettled(edited.text, CHECK_PAUSE_MS);
  const check = useQuery({ ...trials.check(name, settled), enabled: canAsk });
  const isChecked = !canAsk || (settled === edited.text && check.data !== undefined);
  // Who cannot ask sees what is wrong with the saved text, and with one that was refused.
  const told = !edited.isDirty ? tree : refused?.text === edited.text ? refused : null;
  const found = useMemo(
    () => problemsOf(canAsk ? (check.data?.result ?? null) : told),
    [canAsk, check.data, told],
  );
  const own = useMemo(() => found?.filter((each) => each.file === `${name}.yaml`) ?? null, [found, name]);
  const errors = found?.filter((each) => each.severity === "error").length ?? 0;

  const { data: answers } = useQuery({ ...answersQuery(name), enabled: isOperator && tree !== null });

  // A part of other trees does not run by itself: its breakpoints are set in a run.
  const { data: me } = useMe();
  const canBreak = (me?.can_debug ?? false) && tree?.internal === false;
  const { all, add, remove } = useBreakpoints(canBreak);
  const standing = useMemo(
    () => new Map(all.map((each) => [each.tree === name ? each.path : null, each.id])),
    [all, name],
  );
  const nodes = canBreak && answers?.is_current ? answers.nodes : NO_ANSWERS;
  const breakable = useMemo(
    () => nodes.map(({ line, path }) => ({ line, path, isSet: standing.has(path) })),
    [nodes, standing],
  );
  const toggleBreakpoint = ({ path, line, isSet }: Breakable) => {
    if (isSet) remove(standing.get(path) ?? "");
    else add({ kind: "node", tree: name, user_id: me?.user_id ?? null, path });
    toast(isSet ? "Breakpoint removed." : `Your runs of ${name} pause at the node of line ${String(line)}.`);
  };

  useEffect(() => followSaves(client), [client]);
  useEffect(() => {
    if (place) source.current?.goTo(place);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the address names the place once
  }, [place?.line, place?.column]);

  const { whole } = usesOf(tree, trees);
  const explored = tree?.internal ? whole : [name];
  const canSave = isOperator && !isNarrow && edited.isDirty && isChecked && errors === 0;
  const save = () => {
    if (canSave) setSaving(true);
    else if (!edited.isDirty) toast("There is nothing to save.");
    else if (errors > 0) toast("Fix the mistakes before you save.");
    return true;
  };
  useKeys({ "mod+s": save });
  usePlaces(() =>
    (source.current?.nodes() ?? []).map(({ label, line }) => ({
      label,
      detail: `${name}.yaml:${String(line)}`,
      go: () => {
        setView("source");
        source.current?.goTo({ line, column: 1 });
      },
    })),
  );

  const openSubtree = useCallback(
    (opened: Parameters<typeof treeNameAt>[0]) => {
      const known = new Set([...trees.map((each) => each.name), ...(tree?.includes ?? [])]);
      const found = treeNameAt(opened, known);
      if (found !== null && found !== name) go(treeHref(found, { replay: replayed }));
      return found !== null;
    },
    [go, name, tree, trees, replayed],
  );
  const onSave = async (note: string | null) => {
    setSaving(false);
    const saved = await saveTree({ name, source: edited.text, version: edited.base, note });
    if (saved.kind === "conflict") setConflict(saved.conflict);
    else if (saved.kind === "refused") {
      setRefused({ text: edited.text, mistakes: saved.mistakes, warnings: [] });
      toast("The service found mistakes. Nothing was saved.");
    } else keepSaved(saved.tree, "Saved. The next question uses it.");
  };
  const keepSaved = (saved: Tree, words: string) => {
    client.setQueryData(["trees", name], saved);
    edited.rebase(saved);
    void client.invalidateQueries({ queryKey: ["trees"] });
    announceSave(name);
    toast(words);
  };
  /** Go on from what is saved now: with its text, or with the own one as made from it. */
  const followSaved = async (own: string | null) => {
    setConflict(null);
    const theirs = await client.query({ ...treeQuery(name), staleTime: 0 });
    edited.rebase(theirs, own ?? undefined);
    if (own !== null) setView("difference");
  };
  const report = (error: unknown) =>
    toast(error instanceof Error ? error.message : "The service did not save it.");
  const goTo = (mistake: Mistake) => {
    if (mistake.file === `${name}.yaml`) {
      setView("source");
      source.current?.goTo(mistake);
    } else {
      const { file, line, column } = mistake;
      go(treeHref(file.replace(/\.yaml$/, ""), { line, column, replay: replayed }));
    }
  };

  return (
    <div className="flex flex-col h-full min-h-0 bg-surface">
      <EditorHead
        name={name}
        tree={tree}
        trees={trees}
        edited={edited}
        errors={errors}
        counts={counts}
        view={view}
        onView={setView}
        isReadOnly={isReadOnly}
        canSave={canSave}
        onSave={save}
        onDiscard={() => {
          if (tree) edited.rebase(tree);
          else go("/trees");
        }}
      />
      {isReadOnly && (
        <p className={`${NOTICE} bg-surface-2 text-ink-2`} role="note">
          {isOperator
            ? "Use a wider screen to edit trees. Here you can read them."
            : "You can read this tree. Only operators can change it."}
        </p>
      )}
      {edited.isOutdated && !conflict && tree && (
        <p className={`${NOTICE} bg-warn-soft text-warn`} role="status">
          <span>Another version was saved in the meantime. Your text is based on the one before.</span>
          <button type="button" className={ANSWER} onClick={() => setView("difference")}>
            Show the difference
          </button>
          <button type="button" className={ANSWER} onClick={() => edited.rebase(tree)}>
            Use the saved text
          </button>
          <button type="button" className={ANSWER} onClick={() => edited.rebase(tree, edited.text)}>
            Keep mine
          </button>
        </p>
      )}
      <div className={`grid flex-1 min-h-0 ${COLUMNS}`}>
        <Files name={name} trees={trees} isDirty={edited.isDirty} replayed={replayed} />
        <section className="flex flex-col min-w-0 min-h-0" aria-label="Source">
          <NodePath
            path={cursor.path}
            runs={answers?.is_current ? answers.runs : 0}
            onStep={(line) => source.current?.goTo({ line, column: 1 })}
          />
          <div className="flex-1 min-h-0 [&[hidden]]:hidden" hidden={view !== "source"}>
            <SourceEditor
              ref={source}
              label={`${name}.yaml`}
              text={edited.text}
              saved={tree?.source ?? ""}
              isReadOnly={isReadOnly}
              mistakes={isChecked ? own : null}
              answers={answers?.is_current ? answers.nodes : NO_ANSWERS}
              breakable={breakable}
              onBreakpoint={toggleBreakpoint}
              describe={async (text, at) => {
                if (!canAsk) return null;
                const body = { name, source: text, ...at };
                return (await unwrap(api.POST("/api/trees/hover", { body }))).markdown;
              }}
              complete={async (text, at, signal) => {
                if (!canAsk) return [];
                const body = { name, source: text, ...at };
                return (await unwrap(api.POST("/api/trees/complete", { body, signal }))).items;
              }}
              onChange={edited.change}
              onCounts={setCounts}
              onCursor={setCursor}
              onProblem={setCurrent}
              onOpenSubtree={(opened) => openSubtree(opened)}
            />
          </div>
          {view === "difference" && <Difference before={tree?.source ?? ""} after={edited.text} />}
          {view === "versions" && tree && (
            <Versions
              name={name}
              present={tree}
              isDirty={edited.isDirty}
              onRestored={(restored) => {
                keepSaved(restored, "Restored. The next question uses it.");
                setView("source");
              }}
              onConflict={setConflict}
            />
          )}
        </section>
        {isOperator && (
          <Results
            name={name}
            text={edited.text}
            problems={found}
            checkSeconds={isChecked ? (check.data?.seconds ?? null) : null}
            isChecked={isChecked}
            explored={explored}
            isNew={tree === null}
            current={own && current >= 0 ? (own[current] ?? null) : null}
            replayed={replayed}
            pane={pane}
            onPane={setPane}
            line={cursor.line}
            onLine={(line) => {
              setView("source");
              source.current?.goTo({ line, column: 1 });
            }}
            onGoTo={goTo}
            onFix={(mistake, fix) => source.current?.fix(own?.indexOf(mistake) ?? -1, fix)}
          />
        )}
      </div>
      <StatusBar
        keys={[
          ...(canAsk ? [[["Ctrl+Space"], "complete"] as const] : []),
          [["mod+."], "fix"],
          [["mod+k"], "go to node"],
          [["F12"], "open the subtree"],
          ...(breakable.length > 0 ? [[["F9"], "breakpoint"] as const] : []),
          [["Escape", "Tab"], "leave the text"],
        ]}
        note={
          <>
            {isOperator && check.isFetching && "Checking… · "}
            Line {cursor.line}, column {cursor.column} · YAML · 2 spaces
          </>
        }
      />
      {isSaving && (
        <SaveDialog
          name={name}
          counts={counts}
          usedBy={tree?.used_by ?? []}
          text={edited.text}
          onClose={() => setSaving(false)}
          onSave={(note) => void onSave(note).catch(report)}
        />
      )}
      {conflict && (
        <ConflictDialog
          conflict={conflict}
          onClose={() => setConflict(null)}
          onTheirs={() => void followSaved(null)}
          onMine={() => void followSaved(edited.text)}
        />
      )}
    </div>
  );
}

const NO_ANSWERS: NodeAnswers[] = [];
const NO_TREES: TreeHead[] = [];

/** A text that the service has not saved, and why. */
type Refused = Pick<Tree, "mistakes" | "warnings"> & { text: string };

function problemsOf(found: { mistakes: Mistake[]; warnings: Mistake[] } | null): Mistake[] | null {
  return found && [...found.mistakes, ...found.warnings];
}
