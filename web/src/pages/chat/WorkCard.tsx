import { useId, useState } from "react";
import { Mark } from "@/parts/Mark";
import { duration } from "@/parts/format";
import { ChevronRightIcon } from "@/parts/icons";
import { type CallPart, type CallState, stateOf, type TextPart } from "@/stream/answer";
import { callSummary } from "./callSummary";
import "./WorkCard.css";

interface WorkCardProps {
  thought: TextPart | null;
  calls: readonly CallPart[];
  /** The thought is still coming. */
  isThinking: boolean;
  /** The ids of the calls that wait for a person. */
  waiting: ReadonlySet<string>;
}

/** What the model did between two pieces of text: a thought in one line, and tool calls. */
export function WorkCard({ thought, calls, isThinking, waiting }: WorkCardProps) {
  return (
    <ul className="work-card">
      {thought && (
        <li>
          <Thought text={thought.text} isThinking={isThinking} />
        </li>
      )}
      {calls.map((call) => (
        <li key={call.key}>
          <ToolRow call={call} isWaiting={!call.result && waiting.has(call.callId)} />
        </li>
      ))}
    </ul>
  );
}

function Thought({ text, isThinking }: { text: string; isThinking: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <>
      <button
        type="button"
        className="work-row work-thought"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <ChevronRightIcon size={12} className="work-chevron" />
        <span>{isThinking ? "Thinking" : "Thought"}</span>
        {!isOpen && <span className="work-summary truncate">{firstLine(text)}</span>}
      </button>
      {isOpen && (
        <div className="work-detail work-thought-text" id={id}>
          {text.trim()}
        </div>
      )}
    </>
  );
}

const firstLine = (text: string) => text.trim().slice(0, 300).replace(/\s+/g, " ");

const MARKS = { running: "running", done: "success", error: "error", "not-run": "halted" } as const;
const STATES: Record<CallState, string> = {
  running: "running",
  done: "done",
  error: "error",
  "not-run": "not run",
};

function ToolRow({ call, isWaiting }: { call: CallPart; isWaiting: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const state = stateOf(call);
  return (
    <>
      <button
        type="button"
        className={`work-row work-${state}`}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <Mark kind={MARKS[state]} label={isWaiting ? "waiting" : STATES[state]} />
        <span className="work-name mono">{call.name}</span>
        <span className="work-summary mono truncate">{callSummary(call.arguments)}</span>
        <span className="work-figure">{isWaiting ? "waiting" : figureOf(call, state)}</span>
      </button>
      {isOpen && <ToolDetail id={id} call={call} />}
    </>
  );
}

function figureOf({ result }: CallPart, state: CallState): string {
  if (state === "running" || state === "not-run") return STATES[state];
  const took = duration((result?.durationMs ?? 0) / 1000);
  return state === "error" ? `error · ${took}` : took;
}

function ToolDetail({ id, call }: { id: string; call: CallPart }) {
  return (
    <div className="work-detail" id={id}>
      <h3>Arguments</h3>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>{JSON.stringify(call.arguments, null, 2)}</pre>
      {call.result && (
        <>
          <h3>{call.result.isError ? "Error" : "Result"}</h3>
          {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reachable by keyboard */}
          <pre tabIndex={0}>{call.result.text || "(empty)"}</pre>
        </>
      )}
    </div>
  );
}
