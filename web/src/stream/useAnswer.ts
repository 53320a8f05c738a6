/** The answers that this tab reads, and what the pages show of them. */
import { useEffect, useState, useSyncExternalStore } from "react";
import { onForget } from "@/store/session";
import type { AnswerStream, LiveAnswer } from "./answerStream";
import { LiveAnswers } from "./liveAnswers";
import { answerService } from "./service";

export const liveAnswers = new LiveAnswers(answerService);
onForget(() => {
  liveAnswers.clear();
});

const never = () => () => undefined;
const nothing = () => null;

/** What an answer consists of by now; changes once a frame at most. */
export function useLiveAnswer(stream: AnswerStream | null): LiveAnswer | null {
  return useSyncExternalStore(stream?.subscribe ?? never, stream?.getSnapshot ?? nothing);
}

/** The answer of a run, read as long as the component is shown; null without a run. */
export function useAnswerOf(runId: string | null): LiveAnswer | null {
  const [stream, setStream] = useState<AnswerStream | null>(null);
  useEffect(() => {
    if (runId === null) return;
    const reading = liveAnswers.read(runId);
    const unwatch = reading.stream.watch();
    setStream(reading.stream); // eslint-disable-line react-hooks/set-state-in-effect -- a reader ends with its effect, and cannot be started again
    return () => {
      unwatch();
      reading.leave();
      setStream(null);
    };
  }, [runId]);
  return useLiveAnswer(stream);
}
