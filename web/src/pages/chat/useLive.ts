import { useEffect, useSyncExternalStore } from "react";
import type { AnswerStream, LiveAnswer } from "@/stream/answerStream";
import { liveAnswers } from "./asking";

/** The answer that comes in a conversation now; null if none does. */
export function useLive(contextId: string | null): AnswerStream | null {
  useSyncExternalStore(liveAnswers.subscribe, liveAnswers.getSnapshot);
  const stream = liveAnswers.of(contextId);
  useEffect(() => stream?.watch(), [stream]);
  return stream;
}

const never = () => () => undefined;
const nothing = () => null;

/** What an answer consists of by now; changes once a frame at most. */
export function useLiveAnswer(stream: AnswerStream | null): LiveAnswer | null {
  return useSyncExternalStore(stream?.subscribe ?? never, stream?.getSnapshot ?? nothing);
}
