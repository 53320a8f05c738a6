/** The head of a run: what was asked, how it ended, what it used, and what can be done with it. */
import type { ReactNode } from "react";
import { Link } from "wouter";
import { Badge } from "@/parts/Badge";
import { duration, number, plural } from "@/parts/format";
import { ChevronLeftIcon } from "@/parts/icons";
import { isRefusal } from "@/run/breaches";
import { cachedShare, inputOf } from "@/run/cache";
import type { RunModel } from "@/run/model";
import { outcomeOf } from "@/run/outcome";
import { serviceTime } from "@/store/clock";
import { useMedia } from "@/store/media";
import { useNow } from "@/store/useNow";
import { usedBy } from "./figures";

const PILL = "flex-none p-0 border-0 rounded-[10px] bg-transparent hover:brightness-97";

interface RunHeadProps {
  model: RunModel;
  isFollowing: boolean;
  onLive: () => void;
  onNextError: () => void;
  onNextRefused: () => void;
  isPaused: boolean;
  /** The connection of a live run is lost, and being made again. */
  isReconnecting: boolean;
  /** Other pages are there: the list of runs, and the tree. */
  isLinked: boolean;
  /** Buttons. */
  children?: ReactNode;
}

export function RunHead(props: RunHeadProps) {
  const { model, isFollowing, isLinked, onLive, onNextError, onNextRefused, isPaused } = props;
  const isWide = useMedia("(width >= 1500px)");
  const isNarrow = useMedia("(width < 700px)");
  const { run } = model;
  const outcome = outcomeOf(run);
  const errors = model.errors.length;
  const refused = model.breaches.filter((each) => each.call_id && isRefusal(each)).length;
  const isLive = !model.isComplete && isLinked; // an exported page shows the moment of its export
  const now = useNow(1_000, isLive);
  const used = usedBy(model);
  const input = inputOf(model.turns);
  const seconds = isLive ? serviceTime(now) / 1_000 - run.created_at : used.seconds;
  const tree = `${run.tree}${run.tree_version ? `@${run.tree_version.slice(0, 7)}` : ""}`;
  return (
    <header className="run-head flex flex-none items-center gap-2 h-12 px-4 border-b border-line bg-surface whitespace-nowrap max-narrow:h-11 max-narrow:pr-1 max-narrow:pl-3">
      <nav className="flex items-center gap-1.5 text-ink-3" aria-label="Breadcrumb">
        {isLinked && (
          <Link
            href="/runs"
            className="inline-flex no-underline hover:text-ink hover:underline max-narrow:py-2 max-narrow:px-1"
            aria-label="All runs"
          >
            {isNarrow ? <ChevronLeftIcon /> : "Runs"}
          </Link>
        )}
        {isLinked && !isNarrow && <span aria-hidden="true">/</span>}
        <code className="max-narrow:hidden" title={run.id}>
          {run.id.slice(0, 8)}
        </code>
      </nav>
      <h1
        className="min-w-20 text-lg leading-normal truncate max-narrow:text-sm max-narrow:leading-tight max-narrow:whitespace-normal max-narrow:line-clamp-2"
        title={run.question}
      >
        {run.question || "(the question was deleted)"}
      </h1>
      {model.isComplete && <Badge tone={outcome.tone}>{outcome.words}</Badge>}
      {errors > 0 && (
        <button
          type="button"
          className={PILL}
          onClick={onNextError}
          title="To the next error (E)"
          aria-label={plural(errors, "node error")}
        >
          <Badge tone="err">{isNarrow ? errors : plural(errors, "node error")}</Badge>
        </button>
      )}
      {refused > 0 && (
        <button
          type="button"
          className={PILL}
          onClick={onNextRefused}
          title="To the next call that a rule has refused"
          aria-label={`${refused} refused by a rule`}
        >
          <Badge tone="fail">{isNarrow ? refused : `${refused} refused`}</Badge>
        </button>
      )}
      {!model.isComplete && (
        <button type="button" className={PILL} aria-pressed={isFollowing} onClick={onLive} title="Live (L)">
          <Badge tone={isPaused ? "plain" : "run"} mark={isPaused ? "paused" : "running"}>
            {liveWords(props)}
          </Badge>
        </button>
      )}
      <dl className="flex gap-3.5 ml-auto pl-2 text-ink-2 max-[1100px]:hidden">
        <Figure value={number(used.turns)} unit={used.turns === 1 ? "turn" : "turns"} label="Turns" />
        <Figure
          value={`${run.tokens_estimated ? "≈ " : ""}${number(used.tokens)}`}
          unit="tokens"
          label="Tokens"
        />
        {input.read > 0 && (
          <Figure value={cachedShare(input)} unit="cached" label="Input read from the provider’s cache" />
        )}
        {seconds !== null && <Figure value={duration(seconds)} unit="" label="Time" />}
        {isWide && run.model !== null && <Figure code value="" unit={run.model} label="Model" />}
        {run.tree !== "" && (
          <div>
            <dt className="visually-hidden">Tree</dt>
            <dd>
              {isLinked ? (
                <Link
                  className="text-ink-2 no-underline hover:underline"
                  href={`/trees/${encodeURIComponent(run.tree)}`}
                >
                  <code>{tree}</code>
                </Link>
              ) : (
                <code>{tree}</code>
              )}
            </dd>
          </div>
        )}
      </dl>
      <div className="flex flex-none gap-2 pl-1 max-[1100px]:ml-auto">{props.children}</div>
    </header>
  );
}

function liveWords({ model, isFollowing, isPaused, isReconnecting }: RunHeadProps): string {
  if (isReconnecting) return "reconnecting";
  const state = isPaused ? "paused" : model.waiting.length > 0 ? "waiting" : "live";
  return isFollowing ? state : `${state}: ${plural(model.ticks.length, "tick")} so far`;
}

interface FigureProps {
  value: string;
  unit: string;
  label: string;
  code?: boolean;
}

function Figure({ value, unit, label, code = false }: FigureProps) {
  return (
    <div className={code ? "mono text-sm" : undefined}>
      <dt className="visually-hidden">{label}</dt>
      <dd>
        {value && <b className="text-ink font-strong">{value}</b>} {unit}
      </dd>
    </div>
  );
}
