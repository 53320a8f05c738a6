/** What the user had read by the tick that is shown. */
import { memo, useEffect, useRef } from "react";
import { Badge } from "@/parts/Badge";
import { duration, plural } from "@/parts/format";
import { FileIcon } from "@/parts/icons";
import { Mark, type MarkKind } from "@/parts/Mark";
import { Markdown } from "@/parts/Markdown";
import { Problem } from "@/parts/Problem";
import { SystemRow } from "@/parts/SystemRow";
import { answerBy, argumentsOf, callState, debugSentence, type CallState, type Item } from "@/run/answer";
import type { CallFacts, TextFacts } from "@/run/facts";
import type { RunModel } from "@/run/model";
import { LongText } from "./LongText";
import "./Answer.css";

interface AnswerProps {
  model: RunModel;
  at: number;
  version: number;
}

export const Answer = memo(function Answer({ model, at }: AnswerProps) {
  const end = useRef<HTMLDivElement>(null);
  const items = answerBy(model, at);
  const count = items.length;
  useEffect(() => {
    end.current?.scrollIntoView({ block: "nearest" });
  }, [at, count]);
  const tick = model.ticks[at]?.tick ?? 0;
  return (
    <div className="answer">
      <p className="answer-question">{model.run.question || "(the question was deleted)"}</p>
      {items.map((item) => (
        <ItemView key={item.id} item={item} tick={tick} />
      ))}
      {count === 0 && <p className="pane-quiet">Nothing was shown by then.</p>}
      <div ref={end} />
    </div>
  );
});

function ItemView({ item, tick }: { item: Item; tick: number }) {
  switch (item.kind) {
    case "text":
      return <TextView text={item.text} />;
    case "calls":
      return (
        <div className="answer-calls">
          {item.calls.map((call) => (
            <CallView key={call.id} call={call} tick={tick} />
          ))}
        </div>
      );
    case "sources":
      return (
        <details className="answer-sources">
          <summary>{plural(item.sources.length, "source")}</summary>
          <ul>
            {item.sources.map((source, index) => (
              <li key={index}>
                <FileIcon size={12} />
                <code>{source.text}</code>
              </li>
            ))}
          </ul>
        </details>
      );
    case "notice":
      return (
        <SystemRow isPast at={duration(item.notice.at_s)}>
          {item.notice.text}
        </SystemRow>
      );
    case "debug":
      return (
        <p className="answer-debug">
          <Badge tone="plain" mark="breakpoint">
            Operator
          </Badge>{" "}
          {debugSentence(item.debug)}
        </p>
      );
  }
}

function TextView({ text }: { text: TextFacts }) {
  if (text.type === "thinking")
    return (
      <details className="answer-thought">
        <summary className="truncate">
          Thought <span>{text.text}</span>
        </summary>
        <p>{text.text}</p>
      </details>
    );
  if (text.type === "error") return <Problem title={text.text} />;
  return <Markdown text={text.text} />;
}

const STATES: Readonly<Record<CallState, MarkKind>> = {
  running: "running",
  done: "success",
  error: "error",
  "not run": "halted",
};

function CallView({ call, tick }: { call: CallFacts; tick: number }) {
  const state = callState(call, tick);
  const hasTime = (state === "done" || state === "error") && call.ended_s !== null;
  const given = argumentsOf(call);
  const shown = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments, null, 1);
  return (
    <details className="answer-call">
      <summary>
        <Mark kind={STATES[state]} label={state} />
        <code className="answer-call-name">{call.name}</code>
        <code className="truncate">{given}</code>
        <span>{hasTime ? duration((call.ended_s ?? 0) - call.began_s) : state}</span>
      </summary>
      <LongText>{shown}</LongText>
      {(state === "done" || state === "error") && (
        <LongText>{call.result ?? "(the result was deleted)"}</LongText>
      )}
    </details>
  );
}
