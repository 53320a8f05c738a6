import { Link } from "wouter";
import { Badge } from "@/parts/Badge";
import { duration } from "@/parts/format";
import type { RunModel } from "@/run/model";
import { outcomeOf } from "@/run/outcome";
import "./Strips.css";

interface StripsProps {
  runs: readonly { letter: "A" | "B"; model: RunModel; at: number }[];
  equalTicks: number;
  onSelectTick: (letter: "A" | "B", at: number) => void;
}

/** Both runs in true time, on one scale: turns and tools; what is the same in both is pale. */
export function Strips({ runs, equalTicks, onSelectTick }: StripsProps) {
  const longest = Math.max(1, ...runs.map(({ model }) => model.ticks.at(-1)?.at_s ?? 0));
  return (
    <div className="strips">
      {runs.map(({ letter, model, at }) => (
        <div key={letter} className="strip">
          <i className={`strip-letter strip-${letter}`}>{letter}</i>
          <Link href={`/runs/${model.run.id}`} className="strip-id">
            <code>{model.run.id.slice(0, 8)}</code>
          </Link>
          <span className="strip-end">
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
    <div className="strip-time">
      {model.calls.map((call) => (
        <i
          key={`${call.turn} ${call.id}`}
          className="strip-call"
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
            className={isSame ? "strip-turn strip-same" : "strip-turn"}
            style={{ left: percent(turn.began_s), width: `max(3px, ${percent(took)} - 2px)` }}
            aria-label={`To turn ${turn.n}, ${duration(took)}`}
            onClick={() => {
              const to = model.indexOfTick(turn.ended_tick ?? turn.began_tick);
              if (to >= 0) onSelectTick(to);
            }}
          >
            turn {turn.n} · {duration(took)}
          </button>
        );
      })}
      {model.notices.map((notice, index) => (
        <i key={index} className="strip-notice" title={notice.text} style={{ left: percent(notice.at_s) }} />
      ))}
      <i className="strip-head" style={{ left: percent(model.ticks[at]?.at_s ?? 0) }} />
    </div>
  );
}
