import { useCallback, useEffect } from "react";
import { deliver, pendingChanged } from "@/api/people";
import { useMe } from "@/api/queries";
import { mayAnswer, type Decision, type Interrupt } from "@/parts/interrupts/asking";
import { ApproveAll } from "@/parts/interrupts/InterruptCard";
import { openInterrupts } from "@/stream/answer";
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
  const isOperator = useMe().data?.is_operator ?? false;
  const isMine = (interrupt: Interrupt) => mayAnswer(interrupt, { isOperator, isAsker: true });
  const decideOn = (interrupt: Interrupt) => {
    if (runId === null || !isMine(interrupt)) return undefined;
    return async (made: Decision) => {
      const [taken] = await deliver(runId, [{ id: interrupt.id, ...made }]);
      return taken ?? interrupt;
    };
  };
  const waiters = openInterrupts(answer).map(({ interrupt }) => interrupt);
  const asked = waiters.length;
  useEffect(pendingChanged, [asked]);
  const isConnected = connection.at === "open" || connection.at === "opening";
  const isLive = !hasEnded(live);
  const waiting = isLive && isConnected ? waitingFor(answer, turn) : null;
  return (
    <article className="group not-first-of-type:mt-7" data-run={runId ?? undefined}>
      <Question text={live.question} files={live.attachments.map(({ name }) => name)} actions={null} />
      <AnswerView
        answer={answer}
        askedAt={beganAt}
        isLive={isLive}
        hasCaret={isLive && isConnected}
        onSource={openSource}
        decideOn={decideOn}
      />
      {runId !== null && (
        <ApproveAll
          interrupts={waiters.filter(isMine)}
          onDecide={(deliveries) => deliver(runId, deliveries)}
        />
      )}
      {asked > 0 && (
        <p className="visually-hidden" role="status">
          The answer waits for a person: {waiters.at(-1)?.message}
        </p>
      )}
      {waiting !== null && (
        <p className="flex items-center gap-2 mt-3 text-ink-3">
          {asked === 0 && <Dots label={null} />} {live.isStopping ? "Stopping" : waiting}
        </p>
      )}
    </article>
  );
}
