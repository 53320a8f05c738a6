import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import { ApiError } from "@/api/client";
import { useMe } from "@/api/queries";
import { Button, LinkButton } from "@/parts/Button";
import { EmptyState } from "@/parts/EmptyState";
import { Skeleton } from "@/parts/Skeleton";
import { useTitle } from "@/store/title";
import type { AttachedFile, LiveAnswer } from "@/stream/answerStream";
import type { Source } from "@/stream/chunks";
import { attach, hasEnded } from "./asking";
import { exchangesOf } from "./exchanges";
import type { LimitField } from "./limits";
import { LiveExchange } from "./LiveExchange";
import type { Progress } from "./progress";
import { conversationQuery, runsOfQuery } from "./queries";
import { Refusal } from "./Refusal";
import { SavedExchange } from "./SavedExchange";
import { SourceDialog } from "./SourceDialog";
import { useStable } from "./useStable";

interface ConversationProps {
  contextId: string | null;
  live: LiveAnswer | null;
  beganAt: number;
  progress: Progress;
  canAsk: boolean;
  onAsk: (question: string, attachments?: readonly AttachedFile[]) => void;
  /** Edit a question; `isFirst`: nothing was said before it. */
  onEdit: (question: string, runId: string, isFirst: boolean) => void;
  onRaise: (limit: LimitField) => void;
}

/** The questions of a conversation with their answers, and the one that is being answered. */
export function Conversation(props: ConversationProps) {
  const { contextId, live, beganAt, progress, canAsk, onRaise } = props;
  // This is drawn with each frame of an answer; the answers before it are not.
  const onAsk = useStable(props.onAsk);
  const onEdit = useStable(props.onEdit);
  const saved = useInfiniteQuery({ ...conversationQuery(contextId ?? ""), enabled: contextId !== null });
  const runs = useQuery({ ...runsOfQuery(contextId ?? ""), enabled: contextId !== null });
  const { data: me } = useMe();
  const [source, setSource] = useState<{ runId: string; source: Source } | null>(null);
  const exchanges = useMemo(
    () => exchangesOf((saved.data?.pages ?? []).toReversed().flatMap((page) => page.messages)),
    [saved.data],
  );
  useTitle(exchanges[0]?.question ?? live?.question ?? "Conversation");
  const answering = saved.data?.pages[0]?.live ?? null;
  useEffect(() => {
    if (contextId !== null && answering) attach(contextId, answering);
  }, [contextId, answering]);
  const firstOffline =
    me?.provider === "offline"
      ? exchanges.find(({ runId }) => runs.data?.get(runId)?.model_used === me.model)?.runId
      : undefined;
  const isSaved = live !== null && exchanges.some((exchange) => exchange.runId === live.runId);
  const isRefused = live?.connection.at === "refused" && live.runId === null;
  const open = useCallback((runId: string, cited: Source) => setSource({ runId, source: cited }), []);
  if (contextId !== null && saved.isPending && !live) return <Skeleton label="Loading the conversation" />;
  if (saved.error && !saved.data && !live) return <Missing error={saved.error} />;
  return (
    <>
      {saved.hasNextPage && (
        <Button
          variant="ghost"
          size="small"
          disabled={saved.isFetchingNextPage}
          onClick={() => void saved.fetchNextPage()}
        >
          Earlier questions
        </Button>
      )}
      {exchanges.map((exchange, at) => (
        <SavedExchange
          key={exchange.runId}
          exchange={exchange}
          run={runs.data?.get(exchange.runId) ?? null}
          isLast={at === exchanges.length - 1 && (live === null || isSaved || isRefused)}
          canAsk={canAsk}
          onAsk={onAsk}
          isFirst={at === 0 && !saved.hasNextPage}
          isFirstOffline={exchange.runId === firstOffline}
          onEdit={onEdit}
          onRaise={onRaise}
          onSource={open}
        />
      ))}
      {live && !isSaved && !isRefused && (
        <LiveExchange live={live} beganAt={beganAt} turn={progress.turn} onSource={open} />
      )}
      {live && hasEnded(live) && live.connection.at === "refused" && (
        <Refusal error={live.connection.error} />
      )}
      {source && <SourceDialog runId={source.runId} source={source.source} onClose={() => setSource(null)} />}
    </>
  );
}

function Missing({ error }: { error: Error }) {
  const isGone = error instanceof ApiError && error.status === 404;
  return (
    <EmptyState
      title={isGone ? "There is no such conversation" : "The conversation could not be read"}
      action={<LinkButton href="/">New question</LinkButton>}
    >
      {isGone ? "It was deleted, or it belongs to another user." : error.message}
    </EmptyState>
  );
}
