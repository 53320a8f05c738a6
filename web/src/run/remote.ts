/** A run of the service, as a `RunLoader` reads it. */
import { api, unwrap } from "@/api/client";
import { readEvents } from "@/api/sse";
import { untilShown, whileShown } from "@/store/shown";
import type { EndEvent, HistoryPage, TickEvent } from "./facts";
import type { RunService } from "./service";

export function remoteRun(runId: string): RunService {
  const path = { run_id: runId };
  return {
    // The client's types turn the pairs of a page into lists of any length.
    history: (query, signal) =>
      unwrap(
        api.GET("/api/runs/{run_id}/history", { params: { path, query }, signal }),
      ) as Promise<HistoryPage>,
    async *watch({ after, reasons, signal }) {
      const address = `/api/runs/${encodeURIComponent(runId)}/ticks/stream`;
      for (let last = after; ;) {
        await untilShown(signal);
        const looked = whileShown(signal);
        const query = new URLSearchParams({ after: String(last), reasons: String(reasons) });
        try {
          for await (const { data } of readEvents(`${address}?${query.toString()}`, looked)) {
            const event = JSON.parse(data) as TickEvent | EndEvent;
            if (event.type === "tick") last = event.tick.tick;
            yield event;
          }
        } finally {
          looked.release();
        }
        if (!looked.signal.aborted || signal.aborted) return;
      }
    },
  };
}
