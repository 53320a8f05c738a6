import { useMe } from "@/api/queries";
import type { RunModel } from "@/run/model";
import { useAnswerOf } from "@/stream/useAnswer";
import { Answer, type AnswerProps } from "./Answer";

/** The pane of a run of the service: it reads the answer of a run that is under way. */
export function StreamedAnswer(props: AnswerProps) {
  const live = useAnswerOf(useOwnRun(props.model));
  return <Answer {...props} live={live} />;
}

/** The run if it is under way, and the user's own: the service shows nobody else an answer that comes. */
function useOwnRun({ run }: RunModel): string | null {
  const { data: me } = useMe();
  return run.status !== "finished" && run.kept === "whole" && run.user_id === me?.user_id ? run.id : null;
}
