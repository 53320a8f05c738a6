import { ApiError } from "@/api/client";
import { withOwnTimes } from "@/parts/format";
import { Problem } from "@/parts/Problem";
import { SystemRow } from "@/parts/SystemRow";

const BUSY = new Set([409, 429, 503]);

/** A question that the service did not take, in its own words. The text is in the composer again. */
export function Refusal({ error }: { error: unknown }) {
  const message = error instanceof Error ? error.message : String(error);
  const status = error instanceof ApiError ? error.status : 0;
  return (
    <div>
      {BUSY.has(status) ? (
        <SystemRow at={String(status)}>{withOwnTimes(message)}</SystemRow>
      ) : (
        <Problem title="The question was not accepted.">{message}</Problem>
      )}
      <p className="mt-2 text-ink-3">Your text is still in the box.</p>
    </div>
  );
}
