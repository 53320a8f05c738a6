import { useEffect, useRef } from "react";
import { type Answer, textOf } from "@/stream/answer";
import { spoken, spokenLength } from "@/stream/sentences";

/** Says an answer to screen readers as it comes: whole sentences, each once, and that it is complete. */
export function Announcer({ answer, isLive }: { answer: Answer | null; isLive: boolean }) {
  const region = useRef<HTMLDivElement>(null);
  const said = useRef(0);
  const wasLive = useRef(false);
  useEffect(() => {
    if (!answer || !region.current) return;
    const text = textOf(answer);
    if (text.length < said.current) said.current = 0; // another answer
    if (isLive && !wasLive.current) said.current = spokenLength(text); // what was there is read, not announced
    const next = isLive ? spokenLength(text, said.current) : text.length;
    const sentences = wasLive.current ? spoken(text.slice(said.current, next)) : "";
    const end = wasLive.current && !isLive ? " The answer has ended." : "";
    said.current = next;
    wasLive.current = isLive;
    // The region is read as it changes; a paragraph for each addition, and only the last few are kept.
    if (sentences || end) say(region.current, sentences + end);
  }, [answer, isLive]);
  return <div ref={region} className="visually-hidden" aria-live="polite" data-testid="chat-announcer" />;
}

const KEPT = 5;

function say(region: HTMLElement, sentences: string): void {
  const paragraph = document.createElement("p");
  paragraph.textContent = sentences.trim();
  region.append(paragraph);
  while (region.children.length > KEPT) region.firstElementChild?.remove();
}
