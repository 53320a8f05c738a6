import { useCallback } from "react";
import type { LiveAnswer } from "@/stream/answerStream";
import type { Source } from "@/stream/chunks";
import { AnswerView } from "./AnswerView";
import { hasEnded } from "./asking";
import { Dots } from "./Dots";
import { Question } from "./Question";
import { waitingFor } from "./words";

interface LiveExchangeProps {
  live: LiveAnswer;
  /** When the run began by the service's clock, in milliseconds. */
  beganAt: number;
  turn: number;
  onSource: (runId: string, source: Source) => void;
}

/** A question whose answer is coming. */
export function LiveExchange({ live, beganAt, turn, onSource }: LiveExchangeProps) {
  const { answer, connection, runId } = live;
  const openSource = useCallback(
    (source: Source) => {
      if (runId !== null) onSource(runId, source);
    },
    [runId, onSource],
  );
  const isConnected = connection.at === "open" || connection.at === "opening";
  const isLive = !hasEnded(live);
  const waiting = isLive && isConnected ? waitingFor(answer, turn) : null;
  return (
    <article className="chat-exchange" data-run={runId ?? undefined}>
      <Question text={live.question} actions={null} />
      <AnswerView
        answer={answer}
        askedAt={beganAt}
        isLive={isLive}
        hasCaret={isLive && isConnected}
        onSource={openSource}
      />
      {waiting !== null && (
        <p className="chat-waiting">
          <Dots label={null} /> {live.isStopping ? "Stopping" : waiting}
        </p>
      )}
    </article>
  );
}
