/** The request of the turn that the tick belongs to, and its raw answer. */
import { memo } from "react";
import { Badge } from "@/parts/Badge";
import { number, plural } from "@/parts/format";
import { Problem } from "@/parts/Problem";
import { SystemRow } from "@/parts/SystemRow";
import type { SignalFacts, TurnFacts } from "@/run/facts";
import { cacheUse } from "@/run/cache";
import { hasSamePrompt, newMessages, turnBefore, turnShownAt } from "@/run/messages";
import type { RunModel } from "@/run/model";
import { FOLD, LongText } from "./LongText";

const PART =
  "py-2 px-4 border-b border-line [&_b]:font-strong [&_span]:pl-1 [&_span]:text-ink-3 [&_em]:float-right [&_em]:text-ink-3 [&_em]:not-italic";
const TEXT = "max-h-80 mt-1.5 text-sm leading-4.5";

interface MessagesProps {
  model: RunModel;
  at: number;
  version: number;
}

export const Messages = memo(function Messages({ model, at }: MessagesProps) {
  const turn = turnShownAt(model, at);
  if (turn === undefined) return <p className="py-3 px-4 text-ink-3">The model had not been called yet.</p>;
  const tick = model.ticks[at]?.tick ?? 0;
  const hasEnded = turn.ended_tick !== null && turn.ended_tick <= tick;
  const notices = model.notices.filter((notice) => notice.turn === turn.n && notice.tick <= tick);
  return (
    <div className="[&>.system-row]:my-2 [&>.system-row]:mx-4">
      <header className="flex justify-between py-2.5 px-4 border-b border-line text-ink-3">
        <h2 className="text-ink text-md">Request of turn {turn.n}</h2>
        {turn.input_tokens ? <span>{number(turn.input_tokens)} tokens in</span> : null}
      </header>
      <Cached turn={turn} />
      <Request turn={turn} before={turnBefore(model, turn)} />
      {hasEnded ? (
        <Response turn={turn} />
      ) : (
        <p className="py-3 px-4 text-ink-3">The response had not arrived yet.</p>
      )}
      {notices.map((notice, index) => (
        <SystemRow key={index} isPast>
          {notice.text}
        </SystemRow>
      ))}
    </div>
  );
});

/** What the provider's cache had of the input, and why it was missed; nothing where that is not known. */
function Cached({ turn }: { turn: TurnFacts }) {
  const { used, missed } = cacheUse(turn);
  if (used === "" && missed === "") return null;
  return (
    <p className={PART}>
      <b>cache</b> {used !== "" && <span>{used}</span>}
      {missed !== "" && <Badge tone="warn">missed: {missed}</Badge>}
    </p>
  );
}

function Request({ turn, before }: { turn: TurnFacts; before: TurnFacts | undefined }) {
  const { request } = turn;
  if (request == null) return <p className="py-3 px-4 text-ink-3">The request was not recorded.</p>;
  const messages = newMessages(turn);
  const older = (request.total_messages ?? messages.length) - messages.length;
  const segments = request.segments ?? [];
  const tools = request.tools ?? [];
  return (
    <>
      <details className={PART}>
        <summary className={`${FOLD} pl-4 before:top-1.75 before:left-px`}>
          <b>system</b> <span>{plural(segments.length, "segment")}</span>
          {before && hasSamePrompt(turn, before) && <em>as in turn {before.n}</em>}
        </summary>
        <Names names={segments} />
        <LongText className={TEXT}>{request.prompt ?? "(the text is not there)"}</LongText>
      </details>
      <div className={PART}>
        <p className="cursor-default">
          <b>tools</b> <span>{tools.length > 0 ? `${tools.length} offered` : "none offered"}</span>
          {request.tool_choice && request.tool_choice !== "auto" ? (
            <em>choice: {request.tool_choice}</em>
          ) : null}
        </p>
        <Names names={tools} />
      </div>
      {older > 0 && (
        <p className="py-2 px-4 border-b border-line text-ink-3">{plural(older, "message")} as before</p>
      )}
      {(request.notes ?? []).map((note, index) => (
        <MessageView key={`note-${String(index)}`} from="note of the control" text={note} />
      ))}
      {messages.map((message, index) => (
        <MessageView key={index} from={message.role} text={message.text} />
      ))}
    </>
  );
}

function Response({ turn }: { turn: TurnFacts }) {
  return (
    <>
      <header className="flex justify-between py-2.5 px-4 border-b border-line text-ink-3">
        <h2 className="text-ink text-md">Answer of turn {turn.n}</h2>
        {turn.output_tokens != null && <span>{number(turn.output_tokens)} tokens out</span>}
      </header>
      {turn.error && <Problem title={turn.error} />}
      {turn.answer == null ? (
        <p className="py-3 px-4 text-ink-3">The response text is missing.</p>
      ) : (
        <MessageView from="assistant" text={turn.answer || "(empty)"} note="raw, with its signal" />
      )}
      {turn.signal ? (
        <Signal signal={turn.signal} />
      ) : (
        !turn.error && <p className="py-3 px-4 text-ink-3">The response has no signal.</p>
      )}
      {(turn.other_signals ?? []).map((signal, index) => (
        <Signal key={index} signal={signal} />
      ))}
    </>
  );
}

function Signal({ signal }: { signal: SignalFacts }) {
  return (
    <p className="py-2 px-4 border-b border-line text-ink-2">
      {signal.malformed ? <Badge tone="warn">malformed signal</Badge> : <b>signal</b>}{" "}
      <code>{signal.type || "unreadable"}</code>
      {signal.confidence == null ? "" : `, ${String(signal.confidence)} sure`}
      {signal.action ? (
        <>
          {" "}
          → <code>{signal.action}</code>
        </>
      ) : null}
      {signal.problem ? ` ${signal.problem}` : ""}
    </p>
  );
}

interface MessageViewProps {
  from: string;
  text: string;
  note?: string;
}

function MessageView({ from, text, note = "new in this turn" }: MessageViewProps) {
  return (
    <section className={`${PART} border-l-3 border-l-head pl-3.25`} aria-label={`${from}, ${note}`}>
      <p className="cursor-default">
        <b>{from}</b> <span>{note}</span>
        <em>{plural(text.length, "character")}</em>
      </p>
      <LongText className={TEXT}>{text}</LongText>
    </section>
  );
}

function Names({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-1 pt-1.5 list-none">
      {names.map((name) => (
        <li key={name} className="px-1.5 border border-line rounded-sm leading-4.5">
          <code>{name}</code>
        </li>
      ))}
    </ul>
  );
}
