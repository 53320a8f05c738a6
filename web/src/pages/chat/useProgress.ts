import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { isShown, onShown } from "@/store/shown";
import { Follower } from "@/stream/follow";
import { resumeEvents } from "@/stream/service";
import { addTick, NO_PROGRESS, type Progress, type TickStreamEvent } from "./progress";

/** How far a run is, as it goes on: from its ticks, without their reasons. */
export function useProgress(runId: string | null): Progress {
  const [known, setKnown] = useState({ runId, progress: NO_PROGRESS });
  const latest = useRef({ runId, progress: NO_PROGRESS, lastId: 0 });
  const isLookedAt = useSyncExternalStore(onShown, isShown);
  useEffect(() => {
    if (runId === null || !isLookedAt) return;
    if (latest.current.runId !== runId) latest.current = { runId, progress: NO_PROGRESS, lastId: 0 };
    let { progress } = latest.current;
    const path = `/api/runs/${encodeURIComponent(runId)}/ticks/stream?reasons=false`;
    const follower = new Follower({
      after: latest.current.lastId,
      open: (after, signal) => resumeEvents(path, after, signal),
      onEvent: ({ id, data }) => {
        const event = JSON.parse(data) as TickStreamEvent; // the service's own, described by its schema
        progress = addTick(progress, event, Date.now());
        latest.current = { runId, progress, lastId: id };
        setKnown({ runId, progress });
        return event.type === "end";
      },
      onConnection: () => undefined, // the answer's own stream says how the connection is
    });
    void follower.run();
    return () => follower.stop();
  }, [runId, isLookedAt]);
  return known.runId === runId ? known.progress : NO_PROGRESS;
}
