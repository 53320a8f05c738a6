import { useState } from "react";
import { api, unwrap } from "@/api/client";
import { queryClient, useHasFeature } from "@/api/queries";
import type { Schemas } from "@/api/types";
import { Button } from "./Button";
import { ThumbIcon } from "./icons";
import { TextForm } from "./interrupts/TextForm";
import { toast } from "./Toast";

type Feedback = Schemas["Feedback"];

const MOST_CHARACTERS = 2_000;
const THUMBS = [
  ["up", "Helpful", ""],
  ["down", "Not helpful", "-scale-y-100"],
] as const;

interface RatingProps {
  runId: string;
  /** What its user has said of it before. */
  given: Feedback | null;
  /** It can be said and changed here. */
  canRate: boolean;
}

/** What the user thinks of an answer: a thumb up or down, pressed again to withdraw it, and why. Stands in a row that wraps. */
export function Rating({ runId, given, canRate }: RatingProps) {
  const [changed, setChanged] = useState<Feedback | null>();
  const [isWriting, setWriting] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const now = changed === undefined ? given : changed;
  const hasFeedback = useHasFeature("feedback");
  const rate = async (rating: Feedback["rating"] | null, text = "") => {
    if (isBusy) return; // not disabled, so that the focus stays
    setBusy(true);
    try {
      const request = { params: { path: { run_id: runId } }, body: { rating, ...(text && { text }) } };
      setChanged((await unwrap(api.POST("/api/oracle/runs/{run_id}/feedback", request))).feedback);
      setWriting(false);
      void queryClient.invalidateQueries({ queryKey: ["runs"] });
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  const words = now?.text ? (
    <p className="basis-full whitespace-pre-wrap wrap-anywhere">“{now.text}”</p>
  ) : null;
  if (!hasFeedback) return null;
  if (!canRate)
    return now ? (
      <>
        <span>Rated {now.rating === "up" ? "helpful" : "not helpful"} by its user</span>
        {words}
      </>
    ) : null;
  return (
    <>
      <span
        className="inline-flex items-center gap-1"
        role="group"
        aria-label="What you think of this answer"
      >
        {THUMBS.map(([rating, label, look]) => {
          const isPressed = now?.rating === rating;
          const icon = <ThumbIcon className={look} fill={isPressed ? "currentColor" : "none"} />;
          return (
            <Button
              key={rating}
              variant="ghost"
              size="small"
              icon={icon}
              aria-label={label}
              aria-pressed={isPressed}
              title={isPressed ? `${label}: press again to withdraw it` : label}
              onClick={() => void rate(isPressed ? null : rating)}
            />
          );
        })}
        {now && !isWriting && (
          <button type="button" className="text-button" onClick={() => setWriting(true)}>
            {now.text ? "Edit comment…" : "Add a comment…"}
          </button>
        )}
      </span>
      {isWriting && now ? (
        <div className="basis-full">
          <TextForm
            label={now.rating === "up" ? "What was helpful?" : "What was not helpful?"}
            action="Save"
            first={now.text ?? ""}
            isBusy={isBusy}
            problemOf={(text) => (text.length > MOST_CHARACTERS ? "At most 2,000 characters." : null)}
            onSend={(text) => rate(now.rating, text.trim())}
            onClose={() => setWriting(false)}
          />
        </div>
      ) : (
        words
      )}
    </>
  );
}
