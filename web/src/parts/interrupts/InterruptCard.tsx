/** What a person is asked, and what has become of it: who answered, when and how. */
import { useId, useState, type ReactNode } from "react";
import type { Delivery } from "@/api/people";
import { Badge } from "@/parts/Badge";
import { Button } from "@/parts/Button";
import { AnswerForm } from "./AnswerForm";
import {
  answerText,
  askedFor,
  byWhom,
  deadlineOf,
  parseArguments,
  stateOf,
  whoAnswers,
  type Answered,
  type Decision,
  type Interrupt,
} from "./asking";
import { BUTTONS, PROBLEM, TextForm } from "./TextForm";

const ANSWER = "mt-1 pl-2 border-l-2 border-line-2 text-ink-2 whitespace-pre-wrap";

export interface InterruptCardProps {
  interrupt: Interrupt;
  /** What was answered; null while it is open. */
  answered?: Answered | null;
  /** Leads to what was read before. */
  read?: ReactNode;
  /** The query has ended, or this is a record of it. */
  isOver?: boolean;
  /** Sends what was decided, and says how it stands then; left out where nothing can be. What it throws is shown. */
  onDecide?: ((decision: Decision) => Promise<Interrupt>) | undefined;
}

export function InterruptCard({
  interrupt: asked,
  answered = null,
  read,
  isOver = false,
  onDecide,
}: InterruptCardProps) {
  // The service has said so; the stream of the run will, too.
  const [taken, setTaken] = useState<Interrupt | null>(null);
  const interrupt = asked.status === "pending" && taken ? taken : asked;
  const { id, status, message, tool_name: tool, may } = interrupt;
  const title = useId();
  const state = stateOf(interrupt, isOver);
  const isOpen = status === "pending" && !isOver;
  const given = answered?.arguments ?? interrupt.arguments;
  const notes = [whoAnswers(interrupt), deadlineOf(interrupt)].filter((note) => note !== null);
  return (
    <section
      className={`pt-2 px-3 pb-2.5 border border-l-4 border-line-2 rounded-md bg-surface wrap-anywhere ${isOpen ? "border-l-run-fill" : ""}`}
      aria-labelledby={title}
      data-interrupt={id}
    >
      <header className="flex flex-wrap items-center gap-y-1 gap-x-2">
        <h3 id={title}>
          {askedFor(interrupt)} {tool && <code className="ml-1.5">{tool}</code>}
        </h3>
        <Badge tone={state.tone} mark={state.mark}>
          {state.words}
        </Badge>
        {!isOpen && <span className="text-ink-3 text-sm">{byWhom(interrupt)}</span>}
      </header>
      <p className="mt-1 whitespace-pre-wrap">{message}</p>
      {given != null && (
        <>
          {answered?.arguments != null && <p className="text-ink-3 text-sm mt-1.5">Edited arguments:</p>}
          <pre
            // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reachable by keyboard
            tabIndex={0}
            className="max-h-60 mt-1.5 py-2 px-2.5 rounded-md bg-surface-2 overflow-auto text-sm leading-4.5 wrap-anywhere whitespace-pre-wrap"
            role="group"
            aria-label="Arguments"
          >
            {JSON.stringify(given, null, 2)}
          </pre>
        </>
      )}
      {read}
      {answered?.answer != null && <p className={ANSWER}>{answerText(answered.answer)}</p>}
      {answered?.comment && <p className={ANSWER}>{answered.comment}</p>}
      {isOpen && notes.length > 0 && <p className="text-ink-3 text-sm mt-1.5">{notes.join(" ")}</p>}
      {isOpen && onDecide && may.length > 0 && (
        <Decide interrupt={interrupt} onDecide={async (made) => setTaken(await onDecide(made))} />
      )}
    </section>
  );
}

interface ApproveAllProps {
  /** What this person may decide. */
  interrupts: readonly Interrupt[];
  onDecide: (deliveries: readonly Delivery[]) => Promise<unknown>;
}

/** Where several approvals wait: all of them at once, or none. */
export function ApproveAll({ interrupts, onDecide }: ApproveAllProps) {
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const open = interrupts.filter(({ may, status }) => may.includes("approve") && status === "pending");
  if (open.length < 2) return null;
  const approve = async () => {
    setBusy(true);
    try {
      await onDecide(open.map(({ id }) => ({ id, decision: "approve" })));
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <div className={BUTTONS}>
      <Button disabled={isBusy} onClick={() => void approve()}>
        Approve all {open.length}
      </Button>
      <p className={PROBLEM} role="alert">
        {problem}
      </p>
    </div>
  );
}

type Way = "refuse" | "edit" | null;

function Decide({
  interrupt,
  onDecide,
}: {
  interrupt: Interrupt;
  onDecide: (made: Decision) => Promise<unknown>;
}) {
  const { answerers, may, reason, response_schema: schema } = interrupt;
  const isFlow = (interrupt.read_before ?? []).length > 0; // each of these calls is asked about, whatever is allowed
  const [way, setWay] = useState<Way>(null);
  const [isForAll, setForAll] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const decide = async (made: Decision) => {
    setBusy(true);
    setProblem("");
    try {
      const isGrant = isForAll && made.decision === "approve";
      await onDecide(isGrant ? { ...made, for: "conversation" } : made);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  const close = () => setWay(null);
  return (
    <div>
      {way === "refuse" && (
        <TextForm
          label="Reason (the model reads it)"
          action="Refuse"
          isBusy={isBusy}
          onSend={(comment) => decide({ decision: "refuse", ...(comment.trim() && { comment }) })}
          onClose={close}
        />
      )}
      {way === "edit" && (
        <TextForm
          label="Arguments, as JSON"
          action="Approve as edited"
          first={JSON.stringify(interrupt.arguments ?? {}, null, 2)}
          isCode
          isBusy={isBusy}
          problemOf={(text) => {
            const parsed = parseArguments(text);
            return parsed.ok ? null : parsed.problem;
          }}
          onSend={(text) =>
            decide({ decision: "edit", arguments: JSON.parse(text) as Record<string, unknown> })
          }
          onClose={close}
        />
      )}
      {may.includes("answer") && way === null && (
        <AnswerForm
          schema={schema}
          isBusy={isBusy}
          onAnswer={(answer) => decide({ decision: "answer", answer })}
        />
      )}
      {way === null && (
        <div className={BUTTONS}>
          {may.includes("approve") && (
            <Button variant="primary" disabled={isBusy} onClick={() => void decide({ decision: "approve" })}>
              Approve
            </Button>
          )}
          {may.includes("refuse") && (
            <Button disabled={isBusy} onClick={() => setWay("refuse")}>
              Refuse…
            </Button>
          )}
          {may.includes("edit") && (
            <Button disabled={isBusy} onClick={() => setWay("edit")}>
              Edit arguments…
            </Button>
          )}
          {reason === "tool_call" && answerers === "user" && may.includes("approve") && !isFlow && (
            <label className="flex items-center gap-1.5 text-ink-2 pointer-coarse:min-h-11">
              <input type="checkbox" checked={isForAll} onChange={() => setForAll(!isForAll)} /> For the rest
              of this conversation
            </label>
          )}
        </div>
      )}
      <p className={PROBLEM} role="alert">
        {problem}
      </p>
    </div>
  );
}
