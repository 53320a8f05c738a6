import { useCallback } from "react";
import { deliver } from "@/api/people";
import { useMe } from "@/api/queries";
import { mayAnswer, type Decision, type Interrupt } from "@/parts/interrupts/asking";
import { Rating } from "@/parts/Rating";
import type { RunModel } from "@/run/model";
import { useAnswerOf } from "@/stream/useAnswer";
import { Answer, type AnswerProps } from "./Answer";

/** The pane of a run of the service: it reads the answer of a run that is under way. */
export function StreamedAnswer(props: AnswerProps) {
  const live = useAnswerOf(useOwnRun(props.model));
  const { data: me } = useMe();
  const { id, user_id: asker, shadow_of, status, kept, feedback } = props.model.run;
  const isOperator = me?.is_operator ?? false;
  const isAsker = me?.user_id === asker && !shadow_of; // a shadow is no user's
  const decideOn = useCallback(
    (interrupt: Interrupt) => {
      if (status === "finished" || !mayAnswer(interrupt, { isOperator, isAsker })) return undefined;
      return async (made: Decision) => (await deliver(id, [{ id: interrupt.id, ...made }]))[0] ?? interrupt;
    },
    [id, status, isOperator, isAsker],
  );
  return (
    <>
      <Answer {...props} live={live} decideOn={decideOn} />
      {status === "finished" && (
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1 px-4 pb-4 text-ink-3 text-sm">
          <Rating runId={id} given={feedback ?? null} canRate={isAsker && kept === "whole"} />
        </div>
      )}
    </>
  );
}

/** The run if it is under way, and the user's own: the service shows nobody else an answer that comes. */
function useOwnRun({ run }: RunModel): string | null {
  const { data: me } = useMe();
  return run.status !== "finished" && run.kept === "whole" && run.user_id === me?.user_id ? run.id : null;
}
