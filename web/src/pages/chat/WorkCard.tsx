import { useId, useState } from "react";
import { Mark } from "@/parts/Mark";
import { duration } from "@/parts/format";
import { ChevronRightIcon } from "@/parts/icons";
import { type CallPart, type CallState, stateOf, type TextPart } from "@/stream/answer";
import { callSummary } from "./callSummary";

const ROW =
  "group flex items-center gap-2 w-full min-h-8 py-0 px-3 border-0 rounded-md bg-transparent text-left hover:bg-surface-2 pointer-coarse:min-h-11";
const DETAIL = "pr-3 pb-2.5 pl-8";
const HEADING = "mt-1 text-ink-3 text-xs font-strong";
const TEXT =
  "max-h-80 overflow-auto py-2 px-2.5 rounded-md bg-surface-2 text-sm leading-4.5 wrap-anywhere whitespace-pre-wrap";

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
    <ul className="border border-line rounded-md bg-surface list-none [&>li+li]:border-t [&>li+li]:border-line">
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
        className={`${ROW} text-ink-3`}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <ChevronRightIcon
          size={12}
          className="flex-none text-ink-2 transition-[rotate] group-aria-expanded:rotate-90 duration-(--fast) ease-(--ease)"
        />
        <span>{isThinking ? "Thinking" : "Thought"}</span>
        {!isOpen && <span className="flex-1 min-w-0 truncate">{firstLine(text)}</span>}
      </button>
      {isOpen && (
        <div className={`${DETAIL} text-ink-2 wrap-anywhere whitespace-pre-wrap`} id={id}>
          {text.trim()}
        </div>
      )}
    </>
  );
}

const firstLine = (text: string) => text.trim().slice(0, 300).replace(/\s+/g, " ");

const FIGURE_TONES: Partial<Record<CallState, string>> = { running: "text-run", error: "text-err" };
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
        className={ROW}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <Mark kind={MARKS[state]} label={isWaiting ? "waiting" : STATES[state]} />
        <span className="mono flex-none max-w-1/2 overflow-hidden font-strong text-ellipsis">
          {call.name}
        </span>
        <span className="mono flex-1 min-w-0 text-ink-3 truncate">{callSummary(call.arguments)}</span>
        <span className={`flex-none text-sm ${FIGURE_TONES[state] ?? "text-ink-3"}`}>
          {isWaiting ? "waiting" : figureOf(call, state)}
        </span>
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
    <div className={DETAIL} id={id}>
      <h3 className={HEADING}>Arguments</h3>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reachable by keyboard */}
      <pre tabIndex={0} className={TEXT}>
        {JSON.stringify(call.arguments, null, 2)}
      </pre>
      {call.result && (
        <>
          <h3 className={HEADING}>{call.result.isError ? "Error" : "Result"}</h3>
          {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reachable by keyboard */}
          <pre tabIndex={0} className={TEXT}>
            {call.result.text || "(empty)"}
          </pre>
        </>
      )}
    </div>
  );
}
