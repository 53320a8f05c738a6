import { useQuery } from "@tanstack/react-query";
import { memo, useCallback } from "react";
import { Rating } from "@/parts/Rating";
import type { AttachedFile } from "@/stream/answerStream";
import type { Source } from "@/stream/chunks";
import { AnswerView } from "./AnswerView";
import { EndLine } from "./EndLine";
import type { Exchange } from "./exchanges";
import type { LimitField } from "./limits";
import { OfflineNote } from "./OfflineNote";
import { Question } from "./Question";
import { answerQuery, type RunFigures } from "./queries";
import { useSeen } from "./useSeen";

interface SavedExchangeProps {
  exchange: Exchange;
  run: RunFigures | null;
  /** It is the last one, which can be gone on from. */
  isLast: boolean;
  /** Nothing was said before it. */
  isFirst: boolean;
  /** It is the first that the offline model has answered, and that model would answer again. */
  isFirstOffline: boolean;
  canAsk: boolean;
  onAsk: (question: string, attachments?: readonly AttachedFile[]) => void;
  onEdit: (question: string, runId: string, isFirst: boolean) => void;
  onRaise: (limit: LimitField) => void;
  onSource: (runId: string, source: Source) => void;
}

/** A question that has been answered. Its parts are read from the run when it comes into view. */
export const SavedExchange = memo(function SavedExchange({
  exchange,
  run,
  isLast,
  isFirst,
  isFirstOffline,
  canAsk,
  onAsk,
  onEdit,
  onRaise,
  onSource,
}: SavedExchangeProps) {
  const { runId, question, attachments, kept, reason } = exchange;
  const [ref, wasSeen] = useSeen();
  const { data } = useQuery({ ...answerQuery(runId), enabled: wasSeen });
  const answer = data?.done ? data : kept;
  const ended = data?.done?.termination_reason ?? reason ?? run?.termination_reason ?? null;
  const openSource = useCallback((source: Source) => onSource(runId, source), [runId, onSource]);
  const failure = answer.parts.find((part) => part.kind === "error");
  return (
    <article ref={ref} className="group not-first-of-type:mt-7" data-run={runId}>
      <Question
        text={question}
        files={attachments.map(({ name }) => name)}
        actions={
          canAsk
            ? {
                onEdit: () => onEdit(question, runId, isFirst),
                onAskAgain: () => onAsk(question, attachments),
              }
            : null
        }
      />
      <AnswerView
        answer={answer}
        askedAt={run ? Date.parse(run.created_at) : exchange.askedAt}
        isLive={false}
        hasCaret={false}
        onSource={openSource}
      />
      {ended && (
        <EndLine
          runId={runId}
          reason={ended}
          errorType={failure?.errorType ?? run?.error_type ?? null}
          turns={data?.done?.turns ?? run?.turns ?? null}
          tokens={data?.done?.tokens_used ?? run?.tokens_used ?? null}
          durationS={run?.duration_s ?? null}
          actions={
            isLast && canAsk
              ? {
                  onGoOn: () => onAsk("Please go on."),
                  onRaise,
                  onAskAgain: () => onAsk(question, attachments),
                }
              : null
          }
        >
          {run && <Rating runId={runId} given={run.feedback} canRate={run.kept === "whole"} />}
        </EndLine>
      )}
      {ended && isFirstOffline && <OfflineNote />}
    </article>
  );
});
