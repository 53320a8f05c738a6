import type { ReactNode } from "react";
import { Link } from "wouter";
import { useMe, useSettings } from "@/api/queries";
import { Mark } from "@/parts/Mark";
import { useTitle } from "@/store/title";
import { limitsText } from "./limits";
import { sourcesText, suggestionsFor } from "./suggestions";
import "./Empty.css";

interface EmptyProps {
  composer: ReactNode;
  onAsk: (question: string) => void;
}

/** Before the first question: what can be asked, and within which limits. */
export function Empty({ composer, onAsk }: EmptyProps) {
  useTitle("Chat");
  const { data: me } = useMe();
  const { data: settings } = useSettings();
  const suggestions = suggestionsFor(me?.sources ?? []);
  return (
    <div className="chat-empty">
      <h1>
        What do you want to know
        {me?.project ? (
          <>
            {" "}
            about <code>{me.project}</code>
          </>
        ) : null}
        ?
      </h1>
      <p className="chat-empty-lead">
        {me && me.sources.length > 0
          ? `Oracle searches ${sourcesText(me.sources)}, and answers with its sources.`
          : "Oracle answers your questions."}{" "}
        A behavior tree decides when it stops; you can watch it decide.
      </p>
      {composer}
      {suggestions.length > 0 && (
        <section aria-labelledby="chat-suggestions">
          <h2 id="chat-suggestions">Try one</h2>
          <ul className="chat-suggestions">
            {suggestions.map(({ question, about }) => (
              <li key={question}>
                <button type="button" onClick={() => onAsk(question)}>
                  <span>{question}</span>
                  <small>{about}</small>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {settings && (
        <p className="chat-empty-limits">
          <Mark kind="info" size={14} label={null} />
          <span>
            Limits for each question: {limitsText(settings.effective)}.{" "}
            <Link href="/settings">Change them in Settings</Link>
          </span>
        </p>
      )}
    </div>
  );
}
