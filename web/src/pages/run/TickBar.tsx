/** Which tick is shown, what happened in it, and how it is shown. */
import type { ReactNode } from "react";
import { Button } from "@/parts/Button";
import { duration } from "@/parts/format";
import {
  ChevronLeftIcon,
  ChevronRightIcon,
  FirstIcon,
  GraphIcon,
  LastIcon,
  PauseIcon,
  PlayIcon,
} from "@/parts/icons";
import { Segmented } from "@/parts/Segmented";
import type { RunModel } from "@/run/model";
import { headlineParts } from "@/run/moves";
import type { Axis } from "@/source";
import { useMedia } from "@/store/media";

interface TickBarProps {
  model: RunModel;
  at: number;
  isPlaying: boolean;
  follow: boolean;
  axis: Axis;
  isGraph: boolean;
  onGo: (at: number) => void;
  onPlay: () => void;
  onFollow: (follow: boolean) => void;
  onAxis: (axis: Axis) => void;
  onGraph: (graph: boolean) => void;
  children?: ReactNode;
}

export function TickBar(props: TickBarProps) {
  const { model, at, isPlaying, onGo } = props;
  const isWide = useMedia("(width >= 1500px)");
  const isNarrow = useMedia("(width < 700px)");
  const last = model.ticks.length - 1;
  const tick = model.ticks[at];
  return (
    <div className="flex flex-none items-center gap-2.5 h-10 px-3 border-b border-line bg-surface max-narrow:flex-wrap max-narrow:h-auto max-narrow:pt-2 max-narrow:px-4 max-narrow:pb-2.5 max-narrow:gap-y-1 max-narrow:gap-x-2.5">
      <div
        className="flex flex-none gap-1.5 max-narrow:order-2 max-narrow:ml-auto max-narrow:gap-3 max-narrow:[&>.button]:relative max-narrow:[&>.button]:w-8! max-narrow:[&>.button]:h-8 max-narrow:[&>.button]:min-h-0 max-narrow:[&>.button]:border-line-2 max-narrow:[&>.button]:after:absolute max-narrow:[&>.button]:after:-inset-1.5"
        role="group"
        aria-label="Ticks"
      >
        {!isNarrow && (
          <Step label="First tick" icon={<FirstIcon />} isOff={at <= 0} onClick={() => onGo(0)} />
        )}
        <Step label="Previous tick" icon={<ChevronLeftIcon />} isOff={at <= 0} onClick={() => onGo(at - 1)} />
        {!isNarrow && (
          <Step
            label={isPlaying ? "Stop playing" : "Play"}
            icon={isPlaying ? <PauseIcon /> : <PlayIcon />}
            isOff={last < 1}
            onClick={props.onPlay}
          />
        )}
        <Step label="Next tick" icon={<ChevronRightIcon />} isOff={at >= last} onClick={() => onGo(at + 1)} />
        {!isNarrow && (
          <Step label="Last tick" icon={<LastIcon />} isOff={at >= last} onClick={() => onGo(last)} />
        )}
      </div>
      <p className="tick-bar-where flex-none text-ink-3 whitespace-nowrap">
        {tick ? (
          <>
            <b className="text-ink font-strong">Tick {tick.tick}</b> of {model.lastTick} · turn {tick.turn} ·{" "}
            {duration(tick.at_s)}
          </>
        ) : (
          "No tick yet"
        )}
      </p>
      {!isNarrow && <Headline text={model.headline(at)} />}
      <div className="flex flex-none gap-2.5 max-narrow:hidden">
        {isWide && (
          <Segmented
            label="Lines"
            value={props.follow ? "follow" : "all"}
            options={[
              { value: "follow", label: "Follow tick" },
              { value: "all", label: "All lines" },
            ]}
            onChange={(value) => props.onFollow(value === "follow")}
          />
        )}
        {!isNarrow && (
          <Segmented
            label="Axis"
            value={props.axis}
            options={[
              { value: "equal", label: "Equal" },
              { value: "time", label: "Time" },
            ]}
            onChange={props.onAxis}
          />
        )}
        {!isNarrow && (
          <Button
            variant={props.isGraph ? "primary" : "plain"}
            size="small"
            icon={<GraphIcon />}
            aria-label="Graph"
            aria-pressed={props.isGraph}
            title="Graph (G)"
            onClick={() => props.onGraph(!props.isGraph)}
          />
        )}
      </div>
      {isNarrow && <Headline text={model.headline(at)} />}
    </div>
  );
}

function Headline({ text }: { text: string }) {
  const [first, rest] = headlineParts(text);
  return (
    <p
      className="tick-bar-headline flex-1 min-w-0 pl-2.5 border-l border-line-2 truncate max-narrow:flex-[0_0_100%] max-narrow:order-3 max-narrow:p-0 max-narrow:border-0 max-narrow:whitespace-normal"
      title={text}
      aria-live="polite"
    >
      <b className="font-strong">{first}</b> {rest}
    </p>
  );
}

interface StepProps {
  label: string;
  icon: ReactNode;
  isOff: boolean;
  onClick: () => void;
}

function Step({ label, icon, isOff, onClick }: StepProps) {
  return (
    <Button
      variant="ghost"
      size="small"
      icon={icon}
      aria-label={label}
      title={label}
      disabled={isOff}
      onClick={onClick}
    />
  );
}
