import { Link } from "wouter";
import { Badge } from "@/parts/Badge";
import { duration } from "@/parts/format";
import type { RunModel } from "@/run/model";
import { outcomeOf } from "@/run/outcome";

interface StripsProps {
  runs: readonly { letter: "A" | "B"; model: RunModel; at: number }[];
  equalTicks: number;
  onSelectTick: (letter: "A" | "B", at: number) => void;
}

/** Which of both runs it is: A is filled. */
export const Letter = ({ children }: { children: string }) => (
  <i
    className={`grid flex-none place-items-center size-4.5 border-2 border-ink rounded-sm font-sans not-italic font-strong text-xs leading-none ${children === "A" ? "bg-ink text-on-ink" : ""}`}
  >
    {children}
  </i>
);

/** Both runs in true time, on one scale: turns and tools; what is the same in both is pale. */
export function Strips({ runs, equalTicks, onSelectTick }: StripsProps) {
  const longest = Math.max(1, ...runs.map(({ model }) => model.ticks.at(-1)?.at_s ?? 0));
  return (
    <div className="flex-none py-2.5 px-4 border-b border-line bg-surface">
      {runs.map(({ letter, model, at }) => (
        <div key={letter} className="flex items-center gap-2 h-7">
          <Letter>{letter}</Letter>
          <Link
            href={`/runs/${model.run.id}`}
            className="flex-none no-underline hover:underline max-narrow:hidden"
          >
            <code>{model.run.id.slice(0, 8)}</code>
          </Link>
          <span className="flex-none min-w-33 max-narrow:min-w-28">
            <Badge tone={outcomeOf(model.run).tone}>{outcomeOf(model.run).words}</Badge>
          </span>
          <Strip
            model={model}
            at={at}
            equalTicks={equalTicks}
            longest={longest}
            onSelectTick={(to) => {
              onSelectTick(letter, to);
            }}
          />
        </div>
      ))}
    </div>
  );
}

interface StripProps {
  model: RunModel;
  at: number;
  equalTicks: number;
  longest: number;
  onSelectTick: (at: number) => void;
}

function Strip({ model, at, equalTicks, longest, onSelectTick }: StripProps) {
  const percent = (seconds: number) => `${((100 * seconds) / longest).toFixed(2)}%`;
  const endS = model.ticks.at(-1)?.at_s ?? 0;
  return (
    <div className="relative flex-1 min-w-0 h-5 mr-15 max-narrow:mr-0 [&>*]:absolute">
      {model.calls.map((call) => (
        <i
          key={`${call.turn} ${call.id}`}
          className="top-0.75 h-3.5 min-w-0.5 bg-ink-2 opacity-50"
          style={{
            left: percent(call.began_s),
            width: percent((call.ended_s ?? endS) - call.began_s),
          }}
        />
      ))}
      {model.turns.map((turn) => {
        const took = (turn.ended_s ?? endS) - turn.began_s;
        const isSame = (turn.ended_tick ?? Number.POSITIVE_INFINITY) <= equalTicks + 1;
        return (
          <button
            key={turn.n}
            type="button"
            className={`@container top-0.75 h-3.5 p-0 border-0 rounded-[2px] text-[10px] leading-3.5 text-left whitespace-nowrap overflow-hidden ${isSame ? "bg-[color-mix(in_srgb,var(--run-fill)_28%,var(--surface))] text-ink" : "bg-run-fill text-(--on-mark)"}`}
            style={{ left: percent(turn.began_s), width: `max(3px, ${percent(took)} - 2px)` }}
            aria-label={`To turn ${turn.n}, ${duration(took)}`}
            onClick={() => {
              const to = model.indexOfTick(turn.ended_tick ?? turn.began_tick);
              if (to >= 0) onSelectTick(to);
            }}
          >
            <span className="hidden @min-[20px]:inline pl-1.25">
              <span className="hidden @min-[90px]:inline">turn </span>
              {turn.n}
              <span className="hidden @min-[90px]:inline"> · {duration(took)}</span>
            </span>
          </button>
        );
      })}
      {model.notices.map((notice, index) => (
        <i
          key={index}
          className="top-px w-0.5 h-4.5 bg-warn-fill"
          title={notice.text}
          style={{ left: percent(notice.at_s) }}
        />
      ))}
      <i
        className="-top-0.5 w-0.5 h-6 -ml-px bg-head"
        style={{ left: percent(model.ticks[at]?.at_s ?? 0) }}
      />
    </div>
  );
}
