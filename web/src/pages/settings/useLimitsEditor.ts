import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { api, unwrap } from "@/api/client";
import { settingsQuery } from "@/api/queries";
import type { AgentSettings } from "@/api/types";
import { useSession } from "@/store/session";
import { LimitsEditor } from "./editor";

/** Tells the other tabs of this browser that limits were saved. */
const CHANNEL = "oracle.settings";

/** The editor of the limits: what it saves is in the query cache, and other tabs hear of it. */
export function useLimitsEditor(saved: AgentSettings | undefined) {
  const queries = useQueryClient();
  const [editor] = useState(() => {
    const took = async (answer: AgentSettings): Promise<AgentSettings> => {
      // A reading that is under way may be older than the answer, and would replace it.
      await queries.cancelQueries({ queryKey: settingsQuery.queryKey });
      queries.setQueryData(settingsQuery.queryKey, answer);
      void queries.invalidateQueries({ queryKey: settingsQuery.queryKey, predicate: isOfAnotherTree });
      tellOthers();
      return answer;
    };
    return new LimitsEditor({
      read: async () => {
        const answer = await unwrap(api.GET("/api/settings/agent-config"));
        queries.setQueryData(settingsQuery.queryKey, answer);
        return answer;
      },
      // `keepalive`: a change made just before the tab is closed arrives.
      change: async (body) =>
        await took(await unwrap(api.PUT("/api/settings/agent-config", { body, keepalive: true }))),
      reset: async () => await took(await unwrap(api.POST("/api/settings/agent-config/reset"))),
    });
  });
  useEffect(() => {
    if (saved) editor.setSaved(saved);
  }, [editor, saved]);

  useEffect(() => {
    editor.open();
    const channel = new BroadcastChannel(CHANNEL);
    channel.onmessage = () => void queries.invalidateQueries({ queryKey: settingsQuery.queryKey });
    const leave = () => editor.commitAll();
    const unsubscribe = useSession.subscribe((now, before) => {
      if (now.connection === "connected" && before.connection !== "connected") editor.resend();
    });
    window.addEventListener("pagehide", leave);
    return () => {
      channel.close();
      unsubscribe();
      window.removeEventListener("pagehide", leave);
      editor.close();
    };
  }, [editor, queries]);
  return { editor, state: useSyncExternalStore(editor.subscribe, editor.getState) };
}

const isOfAnotherTree = (query: { queryKey: readonly unknown[] }): boolean => query.queryKey.length > 1;

function tellOthers(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage("saved");
  channel.close();
}
