/** Tabs of this browser tell each other that a tree was saved; other browsers see it when their window gets the focus. */
import type { QueryClient } from "@tanstack/react-query";

const CHANNEL = "oracle.trees";

export function announceSave(name: string): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(name);
  channel.close();
}

/** Read a tree again when another tab has saved it; the answer stops listening. */
export function followSaves(client: QueryClient): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = () => {
    void client.invalidateQueries({ queryKey: ["trees"] });
  };
  return () => channel.close();
}
