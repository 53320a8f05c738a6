import { useCallback, useMemo } from "react";
import { roughly } from "@/parts/format";
import { GrowingMarkdown } from "@/parts/GrowingMarkdown";
import { InterruptCard, type InterruptCardProps } from "@/parts/interrupts/InterruptCard";
import { Problem } from "@/parts/Problem";
import { SystemRow } from "@/parts/SystemRow";
import { type Answer, type Block, blocksOf, type InterruptPart, openInterrupts } from "@/stream/answer";
import type { Source } from "@/stream/chunks";
import { sourceNamed } from "@/stream/sourceLinks";
import { SourceChips } from "./SourceChips";
import { Summary } from "./Summary";
import { WorkCard } from "./WorkCard";

interface AnswerViewProps {
  answer: Answer;
  /** When the question was asked, in milliseconds; notices say how long after it they came. */
  askedAt: number;
  /** The answer is coming. */
  isLive: boolean;
  /** Text may come now: the connection is there. */
  hasCaret: boolean;
  onSource: (source: Source) => void;
  /** Decides what a person is asked; null where this user cannot, left out where nobody can any more. */
  decideOn?: ((interrupt: InterruptPart["interrupt"]) => InterruptCardProps["onDecide"]) | undefined;
}

/** The parts of an answer in the order in which they came, and its sources. */
export function AnswerView({ answer, askedAt, isLive, hasCaret, onSource, decideOn }: AnswerViewProps) {
  const { parts, sources } = answer;
  const blocks = useMemo(() => blocksOf(parts), [parts]);
  const waiting = useMemo(
    () => new Set(openInterrupts(answer).map(({ interrupt }) => interrupt.tool_call_id ?? "")),
    [answer],
  );
  const isPlace = useCallback((code: string) => sourceNamed(code, sources) !== null, [sources]);
  const onPlace = useCallback(
    (code: string) => {
      const source = sourceNamed(code, sources);
      if (source) onSource(source);
    },
    [sources, onSource],
  );
  const show = (block: Block, isLast: boolean) => {
    switch (block.kind) {
      case "text":
        return (
          <GrowingMarkdown
            text={block.part.text}
            isPlace={isPlace}
            onPlace={onPlace}
            hasCaret={isLast && hasCaret}
          />
        );
      case "work":
        return (
          <WorkCard
            thought={block.thought}
            calls={block.calls}
            isThinking={isLive && isLast && block.calls.length === 0}
            waiting={waiting}
          />
        );
      case "system":
        return (
          <>
            <SystemRow at={sinceAsked(block.part.notice.timestamp, askedAt)} isPast={!isLive}>
              {block.part.notice.system_message}
            </SystemRow>
            <Summary text={block.part.notice.metadata.summary} />
          </>
        );
      case "interrupt":
        return (
          <InterruptCard
            interrupt={block.part.interrupt}
            answered={block.part.answered}
            isOver={!isLive}
            onDecide={decideOn?.(block.part.interrupt)}
          />
        );
      case "error":
        return <Failure words={block.part.error} isAlone={blocks.length === 1} />;
    }
  };
  return (
    <>
      {blocks.map((block, at) => (
        <div key={block.key} className={at > 0 ? "mt-3" : undefined}>
          {show(block, at === blocks.length - 1)}
        </div>
      ))}
      {!isLive && <SourceChips sources={sources} onOpen={onSource} />}
    </>
  );
}

/** What went wrong, in the service's words: their first sentence is the title. */
function Failure({ words, isAlone }: { words: string; isAlone: boolean }) {
  const [, title, rest] = /^(.*?[.!?])\s+(.*)$/s.exec(words) ?? [null, words, ""];
  return (
    <Problem title={title}>
      {rest} {!isAlone && "What was already said is kept."}
    </Problem>
  );
}

function sinceAsked(timestamp: string, askedAt: number): string | undefined {
  const seconds = (Date.parse(timestamp) - askedAt) / 1000;
  return Number.isFinite(seconds) ? roughly(Math.max(0, seconds)) : undefined;
}
