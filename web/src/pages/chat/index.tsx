/** The chat: conversations, the one that is open, and the tree of its run beside it. */
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useCallback, useState } from "react";
import { useLocation } from "wouter";
import { useHasFeature, useSettings } from "@/api/queries";
import { Button, LinkButton } from "@/parts/Button";
import { ChevronDownIcon, MenuIcon, PlusIcon, TreeIcon } from "@/parts/icons";
import { toast } from "@/parts/Toast";
import { useStickToEnd } from "@/parts/useStickToEnd";
import { useKeys } from "@/store/keys";
import { useMedia } from "@/store/media";
import { usePreferences } from "@/store/preferences";
import { Announcer } from "./Announcer";
import { openInterrupts } from "@/stream/answer";
import type { AttachedFile } from "@/stream/answerStream";
import { liveAnswers, useLiveAnswer } from "@/stream/useAnswer";
import { ask as askQuestion, hasEnded } from "./asking";
import { namedIn, useAttachments } from "./attachments";
import { Composer, NO_CHOICES } from "./Composer";
import { Conversation } from "./Conversation";
import { ConversationList } from "./ConversationList";
import { ConversationSheet } from "./ConversationSheet";
import { Empty } from "./Empty";
import { greatest, LimitsDialog } from "./LimitsDialog";
import { type LimitField, type OwnLimits, raised } from "./limits";
import { Meters } from "./Meters";
import { forkBefore, runQuery, runsOfQuery } from "./queries";
import { ReconnectStrip } from "./ReconnectStrip";
import { useLive } from "./useLive";
import { useProgress } from "./useProgress";

const TreePanel = lazy(() => import("./TreePanel").then(({ TreePanel: panel }) => ({ default: panel })));

const GO_ON = "Please go on.";

const WITH_TREE = "grid-cols-[444px_minmax(0,1fr)] min-[1500px]:grid-cols-[560px_minmax(0,1fr)]";
const WITH_LIST = "grid-cols-[240px_minmax(0,1fr)] max-narrow:grid-cols-[minmax(0,1fr)]";
const SCROLL = "flex-1 min-h-0 overflow-y-auto [scrollbar-gutter:stable_both-edges]";

export default function Chat({ contextId = null }: { contextId?: string | null }) {
  const [, navigate] = useLocation();
  const [text, setText] = useState("");
  const [choices, setChoices] = useState(NO_CHOICES);
  const [focusKey, setFocusKey] = useState(1);
  const [isListOpen, setListOpen] = useState(false);
  const [raising, setRaising] = useState<LimitField | null>(null);
  const { scroller, content, isAtEnd, toEnd } = useStickToEnd();
  const { data: settings } = useSettings();
  const canAttach = useHasFeature("attachments");

  const stream = useLive(contextId);
  const live = useLiveAnswer(stream);
  const isAnswering = live !== null && !hasEnded(live);
  const runId = live?.runId ?? null;
  const { data: run } = useQuery({ ...runQuery(runId ?? ""), enabled: runId !== null });

  // The tree of the run that was asked here stays beside the chat. That of an older one comes if it was asked for.
  const [watched, setWatched] = useState<{ contextId: string | null; runId: string } | null>(null);
  if (runId !== null && (watched?.runId !== runId || watched.contextId !== contextId))
    setWatched({ contextId, runId });
  const { treeBesideChat, change } = usePreferences();
  const isNarrow = useMedia("(width < 700px)");
  const hasRoom = useMedia("(width >= 1200px)");
  const { data: runs } = useQuery({ ...runsOfQuery(contextId ?? ""), enabled: contextId !== null });
  const ownRun = watched?.contextId === contextId ? watched.runId : null;
  const lastRun = ownRun ?? runs?.keys().next().value;
  const watchedRun = hasRoom && (treeBesideChat ?? ownRun !== null) ? lastRun : undefined;
  const hasTree = watchedRun !== undefined;
  // The tree beside the chat reads the ticks as well: one stream of them is enough.
  const ticked = useProgress(isAnswering && !hasTree ? runId : null);
  const [treeTurn, setTreeTurn] = useState(0);
  const isAsking = live !== null && openInterrupts(live.answer).length > 0;
  const progress = {
    ...ticked,
    ...(hasTree && { turn: treeTurn }),
    isPaused: ticked.isPaused || isAsking, // the clock stands still while it waits for a person
  };

  /** The question of the open conversation that is being edited, with what was said before it. */
  const [edited, setEdited] = useState<{ contextId: string; runId: string; isFirst: boolean } | null>(null);
  const editing = edited?.contextId === contextId ? edited : null;

  const typeIn = useCallback((question: string) => {
    setText(question);
    setFocusKey((key) => key + 1);
  }, []);

  const attachments = useAttachments();
  const ask = async (
    question: string,
    {
      limits = choices.limits,
      files = [],
    }: { limits?: OwnLimits; files?: readonly AttachedFile[] | undefined } = {},
  ): Promise<boolean> => {
    const asked = question.trim();
    setText("");
    setEdited(null);
    toEnd();
    let within = contextId;
    if (editing) {
      try {
        within = editing.isFirst ? null : await forkBefore(editing.contextId, editing.runId);
      } catch (error) {
        setEdited(editing);
        setText(asked);
        toast(error instanceof Error ? error.message : String(error));
        return false;
      }
      navigate(within === null ? "/" : `/chat/${within}`);
    }
    const isTaken = await askQuestion(
      {
        question: asked,
        ...(files.length > 0 && { attachments: files.map(({ id, name }) => ({ id, name })) }),
        ...(within !== null && { context_id: within }),
        ...(choices.tree !== null && { tree: choices.tree }),
        ...(choices.model !== null && { model: choices.model }),
        ...(Object.keys(limits).length > 0 && { limits }),
      },
      (id) => {
        if (within === null && window.location.pathname === "/") navigate(`/chat/${id}`, { replace: true });
      },
    );
    if (!isTaken) setText((typed) => typed || asked);
    return isTaken;
  };
  const send = async () => {
    const taken = attachments.take();
    if (!(await ask(text, { files: namedIn(taken) }))) attachments.restore(taken);
  };

  const newQuestion = () => {
    const pending = liveAnswers.of(null);
    if (pending && hasEnded(pending.getSnapshot())) liveAnswers.drop(pending);
    navigate("/");
    typeIn("");
  };
  useKeys({
    n: newQuestion,
    Escape: () => {
      if (!isAnswering || document.querySelector("dialog[open]")) return false;
      stream?.cancel();
      return true;
    },
  });

  const composer = (
    <Composer
      text={text}
      onText={setText}
      choices={choices}
      onChoices={setChoices}
      onSend={() => void send()}
      attachments={canAttach ? attachments : null}
      live={isAnswering && stream ? { isStopping: live.isStopping, onStop: stream.cancel } : null}
      focusKey={focusKey}
    />
  );
  const isEmpty = contextId === null && live === null;
  const column = `flex flex-col justify-end max-w-180 min-h-full mx-auto pt-4 pb-2 max-narrow:py-2 max-narrow:px-4 ${hasTree ? "px-3" : "px-6"}`;
  return (
    <div className={`grid h-full bg-surface ${hasTree ? WITH_TREE : WITH_LIST}`}>
      {!hasTree && !isNarrow && (
        <aside className="min-h-0 border-r border-line">
          <ConversationList contextId={contextId} />
        </aside>
      )}
      <section className="flex flex-col min-w-0 min-h-0 @container/chat" aria-label="Conversation">
        {(hasTree || isNarrow) && (
          <div className="flex justify-between -mb-2 px-1.5">
            <Button
              variant="ghost"
              icon={<MenuIcon />}
              aria-label="Conversations"
              aria-haspopup="dialog"
              onClick={() => setListOpen(true)}
            />
            <LinkButton variant="ghost" href="/" icon={<PlusIcon />} aria-label="New question" />
          </div>
        )}
        {live && (
          <ReconnectStrip
            connection={live.connection}
            hasRun={runId !== null}
            onTryNow={() => stream?.tryNow()}
          />
        )}
        {isEmpty ? (
          <div className={SCROLL}>
            <div className={column}>
              <Empty composer={composer} onAsk={(question) => void ask(question)} />
            </div>
          </div>
        ) : (
          <>
            <div className="relative flex flex-1 flex-col min-h-0">
              {hasRoom && !hasTree && lastRun !== undefined && (
                <Button
                  size="small"
                  className="absolute z-1 top-2.5 right-4"
                  icon={<TreeIcon size={13} />}
                  onClick={() => change({ treeBesideChat: true })}
                >
                  Watch the tree
                </Button>
              )}
              <div className={SCROLL} ref={scroller}>
                <div className={column} ref={content}>
                  <h1 className="visually-hidden">Conversation</h1>
                  <Conversation
                    key={contextId}
                    contextId={contextId}
                    live={live}
                    beganAt={run ? Date.parse(run.created_at) : (live?.askedAt ?? 0)}
                    progress={progress}
                    canAsk={!isAnswering}
                    onAsk={(question, files) => void ask(question, { files })}
                    onEdit={(question, forkRun, isFirst) => {
                      if (contextId !== null) setEdited({ contextId, runId: forkRun, isFirst });
                      typeIn(question);
                    }}
                    onRaise={setRaising}
                  />
                </div>
              </div>
            </div>
            <div
              className={`relative w-full max-w-180 mx-auto pt-2 pb-4 max-narrow:pt-1 max-narrow:px-3 max-narrow:pb-2.5 ${hasTree ? "px-5" : "px-6"}`}
            >
              {!isAtEnd && (
                <Button
                  size="small"
                  className="absolute -top-7 left-1/2 shadow-overlay -translate-x-1/2"
                  icon={<ChevronDownIcon size={12} />}
                  onClick={toEnd}
                >
                  To the end
                </Button>
              )}
              {isAnswering && run && !hasTree && (
                <Meters progress={progress} limits={run.limits} isConnected={live.connection.at === "open"} />
              )}
              {editing && (
                <p className="px-0.5 pb-1.5 text-ink-3 text-sm">
                  The edited question is asked in a new conversation; this one stays as it is.{" "}
                  <Button variant="ghost" size="small" onClick={() => setEdited(null)}>
                    Ask it here
                  </Button>
                </p>
              )}
              {composer}
            </div>
          </>
        )}
      </section>
      {hasTree && (
        <Suspense fallback={<section className="tree-panel" aria-label="Tree of the run" />}>
          <TreePanel
            key={watchedRun}
            runId={watchedRun}
            onTurn={setTreeTurn}
            onClose={() => change({ treeBesideChat: false })}
          />
        </Suspense>
      )}
      <Announcer answer={live?.answer ?? null} isLive={isAnswering} />
      {isListOpen && (hasTree || isNarrow) && (
        <ConversationSheet contextId={contextId} onClose={() => setListOpen(false)} />
      )}
      {raising !== null && settings && (
        <LimitsDialog
          action="Ask it to go on"
          limits={{
            ...choices.limits,
            [raising]: raised(settings.effective[raising], greatest(settings, raising)),
          }}
          onChange={(limits) => void ask(GO_ON, { limits })}
          onClose={() => setRaising(null)}
        />
      )}
    </div>
  );
}
