/** What the user had read by the tick that is shown; of a run that is followed, what is being read. */
import { memo, useCallback, useEffect, useMemo, useRef } from "react";
import { Badge } from "@/parts/Badge";
import { duration, plural } from "@/parts/format";
import { FileIcon } from "@/parts/icons";
import { GrowingMarkdown } from "@/parts/GrowingMarkdown";
import { Problem } from "@/parts/Problem";
import type { Interrupt } from "@/parts/interrupts/asking";
import { InterruptCard, type InterruptCardProps } from "@/parts/interrupts/InterruptCard";
import { SystemRow } from "@/parts/SystemRow";
import { useStickToEnd } from "@/parts/useStickToEnd";
import { answerBy, debugSentence, seamSentence, withStreamed, type Item } from "@/run/answer";
import type { RunModel } from "@/run/model";
import type { LiveAnswer } from "@/stream/answerStream";
import { Call, ReadBefore } from "./Call";
import { FOLD } from "./LongText";

const BOX = "border border-line rounded-md text-ink-3";
const FOLDED = `${FOLD} py-1.5 pr-3 pl-7 before:top-3.25 before:left-3`;

export interface AnswerProps {
  model: RunModel;
  at: number;
  version: number;
  /** The last tick is followed. */
  isFollowing: boolean;
  /** The answer as it comes; `null` or left out where nobody reads it. */
  live?: LiveAnswer | null;
  /** Decides what a person is asked, where this user can; left out where nobody can. */
  decideOn?: ((interrupt: Interrupt) => InterruptCardProps["onDecide"]) | undefined;
}

export const Answer = memo(function Answer(props: AnswerProps) {
  const { model, at: shownAt, isFollowing, live = null, decideOn } = props;
  // Of a tick that is shown it is known why, so it may be older than the last one; nobody waits for the words.
  const at = isFollowing ? model.ticks.length - 1 : shownAt;
  // eslint-disable-next-line react-hooks/exhaustive-deps -- a model changes in place, and counts its changes
  const recorded = useMemo(() => answerBy(model, at), [model, at, model.version]);
  const items = isFollowing && live ? withStreamed(recorded, model, live.answer.parts) : recorded;
  const isOpen = items !== recorded || (model.texts.at(-1)?.tick ?? 0) > model.lastTick;
  const isComing = isFollowing && isOpen && live?.connection.at === "open";
  const count = items.length;
  const end = useRef<HTMLDivElement>(null);
  const wasFollowing = useRef(isFollowing);
  useEffect(() => {
    if (!isFollowing && !wasFollowing.current) end.current?.scrollIntoView({ block: "nearest" });
    wasFollowing.current = isFollowing;
  }, [at, count, isFollowing]);
  const { scroller, content } = useStickToEnd();
  const follow = useCallback(
    (element: HTMLElement | null) => {
      content(element);
      scroller(element?.closest<HTMLElement>("[role=tabpanel]") ?? null);
    },
    [content, scroller],
  );
  const tick = model.ticks[at]?.tick ?? 0;
  return (
    <div className="flex flex-col gap-3 py-3 px-4" ref={isFollowing ? follow : null}>
      <p className="answer-question self-end max-w-[90%] py-2 px-3 rounded-lg bg-surface-2 wrap-anywhere whitespace-pre-wrap">
        {model.run.question || "(the question was deleted)"}
      </p>
      {items.map((item, n) => (
        <ItemView
          key={item.id}
          model={model}
          item={item}
          tick={tick}
          isComing={isComing && n === count - 1}
          decideOn={decideOn}
        />
      ))}
      {count === 0 && (
        <p className="text-ink-3">{isFollowing ? "Nothing is shown yet." : "Nothing had been shown yet."}</p>
      )}
      <div ref={end} />
    </div>
  );
});

interface ItemViewProps {
  /** Of which the items are made, anew with each change. */
  model: RunModel;
  item: Item;
  tick: number;
  /** More of it is coming. */
  isComing: boolean;
  decideOn: AnswerProps["decideOn"];
}

const ItemView = memo(function ItemView({ model, item, tick, isComing, decideOn }: ItemViewProps) {
  switch (item.kind) {
    case "text":
      return <TextView type={item.type} text={item.text} isComing={isComing} />;
    case "calls":
      return (
        <div className={`${BOX} [&>*+*]:border-t [&>*+*]:border-line`}>
          {item.calls.map((call) => (
            <Call key={call.id} model={model} call={call} tick={tick} />
          ))}
        </div>
      );
    case "sources":
      return (
        <details className={BOX}>
          <summary className={FOLDED}>{plural(item.sources.length, "source")}</summary>
          <ul className="px-3 pb-2 list-none">
            {item.sources.map((source, index) => (
              <li key={index} className="flex items-center gap-1.5 wrap-anywhere">
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
        <p className="text-ink-2">
          <Badge tone="plain" mark="breakpoint">
            Operator
          </Badge>{" "}
          {debugSentence(item.debug)}
        </p>
      );
    case "seam":
      return (
        <p className="py-1 border-dashed border-line-3 border-y text-ink-2" role="separator">
          {seamSentence(item.seam)}
        </p>
      );
    case "interrupt":
      return (
        <InterruptCard
          interrupt={item.interrupt}
          answered={item.decision}
          read={<ReadBefore model={model} names={item.interrupt.read_before ?? []} tick={item.tick} />}
          onDecide={decideOn?.(item.interrupt)}
        />
      );
  }
});

function TextView({ type, text, isComing }: { type: string; text: string; isComing: boolean }) {
  if (type === "thinking")
    return (
      <details className={`group ${BOX}`}>
        <summary className={`${FOLDED} truncate`}>
          Thought <span className="pl-1.5 group-open:hidden">{text}</span>
        </summary>
        <p className="px-3 pb-2.5 whitespace-pre-wrap wrap-anywhere">{text}</p>
      </details>
    );
  if (type === "error") return <Problem title={text} />;
  return <GrowingMarkdown text={text} hasCaret={isComing} />;
}
