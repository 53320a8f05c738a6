/** A tool call: how it went, the rule that it has broken, and what was read before it. */
import { Fragment } from "react";
import { duration } from "@/parts/format";
import { Mark, type MarkKind } from "@/parts/Mark";
import { argumentsOf, callState, type CallState } from "@/run/answer";
import { breachOf, deedOf, isRefusal, readBefore } from "@/run/breaches";
import type { CallFacts } from "@/run/facts";
import type { RunModel } from "@/run/model";
import { LongText } from "./LongText";

const DETAIL = "max-h-60 py-2 px-3 border-t border-line text-ink-2 text-sm leading-4.5";
const STATES: Readonly<Record<CallState | "refused" | "waiting", MarkKind>> = {
  running: "running",
  done: "success",
  error: "error",
  "not run": "halted",
  refused: "failure",
  waiting: "running",
};

interface CallProps {
  model: RunModel;
  call: CallFacts;
  tick: number;
}

export function Call({ model, call, tick }: CallProps) {
  const breach = breachOf(model, call);
  const known = callState(call, tick);
  const isWaiting = model.waiting.some(({ interrupt }) => interrupt.tool_call_id === call.id);
  const state = isRefusal(breach) ? "refused" : isWaiting && known === "running" ? "waiting" : known;
  const hasResult = state === "done" || state === "error";
  const shown = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments, null, 1);
  return (
    <div>
      <details id={idOf(call)} className="scroll-mt-2">
        <summary className="relative flex items-center gap-2 py-1.5 px-3 list-none cursor-pointer [&::-webkit-details-marker]:hidden">
          <Mark kind={STATES[state]} label={state} />
          <code className="flex-none text-ink font-strong">{call.name}</code>
          <code className="truncate">{argumentsOf(call)}</code>
          <span className="flex-none ml-auto">
            {hasResult && call.ended_s !== null ? duration(call.ended_s - call.began_s) : state}
          </span>
        </summary>
        <LongText className={DETAIL}>{shown}</LongText>
        <Labels call={call} />
        {hasResult && <LongText className={DETAIL}>{call.result ?? "(the result was deleted)"}</LongText>}
      </details>
      {breach && (
        <div className="pr-3 pb-2 pl-8 text-ink-2 text-sm wrap-anywhere">
          <p>
            {deedOf(breach)} <code className="text-ink">{breach.rule}</code>: {breach.text}
          </p>
          <ReadBefore model={model} names={[breach.after ?? ""]} tick={breach.tick} />
        </div>
      )}
    </div>
  );
}

/** What the tool reads and where it writes, as its labels say. */
function Labels({ call: { labels, ran } }: Pick<CallProps, "call">) {
  if (labels === undefined || (labels === null && ran === false)) return null;
  return (
    <ul
      className="flex flex-wrap gap-1.5 py-1.5 px-3 border-t border-line list-none text-xs"
      aria-label="Labels"
    >
      {(labels ?? ["not labelled"]).map((label) => (
        <li key={label} className="px-1.5 border border-line-2 rounded-sm">
          {label}
        </li>
      ))}
    </ul>
  );
}

interface ReadBeforeProps {
  model: RunModel;
  /** Of tools, or of what else was read. */
  names: readonly string[];
  /** The tick by which it was read. */
  tick: number;
}

/** What was read before a call: buttons lead to the results. */
export function ReadBefore({ model, names, tick }: ReadBeforeProps) {
  const read = readBefore(model, names, tick);
  if (read.length === 0) return null;
  return (
    <p className="mt-1 text-ink-2 text-sm">
      Read before:{" "}
      {read.map(({ name, call }, index) => (
        <Fragment key={name}>
          {index > 0 && "; "}
          {call ? (
            <button
              type="button"
              className="p-0 border-0 bg-transparent text-ink underline pointer-coarse:py-3"
              onClick={() => reveal(call)}
            >
              <code>{name}</code>, turn {call.turn}
            </button>
          ) : (
            <>{name}, before this run</>
          )}
        </Fragment>
      ))}
    </p>
  );
}

const idOf = ({ turn, id }: CallFacts): string => `call-${String(turn)}-${id}`;

/** Unfold a call, and go there. */
function reveal(call: CallFacts): void {
  const found = document.getElementById(idOf(call));
  const summary = found?.querySelector("summary");
  if (found?.hasAttribute("open") === false) summary?.click();
  summary?.focus({ preventScroll: true });
  found?.scrollIntoView({ block: "start" });
}
