import { useEffect, useSyncExternalStore } from "react";
import type { AnswerStream } from "@/stream/answerStream";
import { liveAnswers } from "@/stream/useAnswer";

/** The answer that comes in a conversation now; null if none does. */
export function useLive(contextId: string | null): AnswerStream | null {
  useSyncExternalStore(liveAnswers.subscribe, liveAnswers.getSnapshot);
  const stream = liveAnswers.of(contextId);
  useEffect(() => stream?.watch(), [stream]);
  return stream;
}
