import type { ReactNode } from "react";
import { Link } from "wouter";
import { useMe, useSettings } from "@/api/queries";
import { Mark } from "@/parts/Mark";
import { useTitle } from "@/store/title";
import { limitsText } from "./limits";
import { sourcesText } from "./sources";

interface EmptyProps {
  composer: ReactNode;
  onAsk: (question: string) => void;
}

/** Before the first question: what can be asked, and within which limits. */
export function Empty({ composer, onAsk }: EmptyProps) {
  useTitle("Chat");
  const { data: me } = useMe();
  const { data: settings } = useSettings();
  const suggestions = me?.suggestions ?? [];
  return (
    <div className="w-full max-w-168 m-auto py-6">
      <h1 className="text-[24px] leading-8">
        What do you want to know
        {me?.project ? (
          <>
            {" "}
            about <code>{me.project}</code>
          </>
        ) : null}
        ?
      </h1>
      <p className="mt-1 mb-5 text-ink-3 text-lg">
        {me && me.sources.length > 0
          ? `Oracle searches ${sourcesText(me.sources)}, and answers with its sources.`
          : "Oracle answers your questions."}{" "}
        A behavior tree decides when it stops; you can watch it decide.
      </p>
      {composer}
      {suggestions.length > 0 && (
        <section aria-labelledby="chat-suggestions">
          <h2 id="chat-suggestions" className="mt-5 mb-1 text-ink-3 text-sm">
            Try one
          </h2>
          <ul className="grid grid-cols-2 gap-2 list-none @max-[500px]/chat:grid-cols-1">
            {suggestions.map(({ question, about }) => (
              <li key={question}>
                <button
                  type="button"
                  className="flex flex-col w-full h-full min-h-15 py-2.25 px-3 border border-line rounded-md bg-surface text-lg text-left hover:bg-surface-2"
                  onClick={() => onAsk(question)}
                >
                  <span>{question}</span>
                  {about && <small className="text-ink-3 text-sm">{about}</small>}
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {settings && (
        <p className="flex items-start gap-2 mt-5 text-ink-3 text-sm">
          <Mark kind="info" size={14} label={null} className="mt-0.75" />
          <span>
            Limits for each question: {limitsText(settings.effective)}.{" "}
            <Link href="/settings">Change them in Settings</Link>
          </span>
        </p>
      )}
    </div>
  );
}
