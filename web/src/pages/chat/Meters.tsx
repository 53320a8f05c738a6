import { Badge } from "@/parts/Badge";
import { compact, number } from "@/parts/format";
import { Meter } from "@/parts/Meter";
import { elapsedS, type Progress } from "./progress";
import { useMedia } from "@/store/media";
import { useNow } from "@/store/useNow";

interface MetersProps {
  progress: Progress;
  /** The limits of the run, by their names. */
  limits: Readonly<Record<string, number>>;
  /** The stream is there: what is shown is now. */
  isConnected: boolean;
}

/** How much of its limits a run has used. */
export function Meters({ progress, limits, isConnected }: MetersProps) {
  const now = useNow(500, isConnected && !progress.isPaused);
  const { max_iterations: turns, token_budget: tokens, timeout_seconds: timeS } = limits;
  const { soft_warning_percent: soft, token_warning_percent: tokenSoft } = limits;
  const isNarrow = useMedia("(width < 700px)");
  const usedS = Math.floor(elapsedS(progress, now));
  return (
    <div className="flex flex-wrap items-center gap-y-1 gap-x-4 min-h-5 px-0.5 pb-2 @max-[500px]/chat:justify-between @max-[500px]/chat:gap-x-2 [&_.badge]:-mr-1 @max-[500px]/chat:[&_.badge]:hidden @max-[500px]/chat:[&_.meter]:gap-1.25 @max-[500px]/chat:[&_.meter]:text-xs @max-[500px]/chat:[&_.meter-bar]:w-6">
      {isConnected && progress.turn > 0 && <Badge tone="run">Turn {progress.turn}</Badge>}
      {turns !== undefined && (
        <Meter
          label="Turns"
          value={progress.turns}
          limit={turns}
          warnPercent={soft}
          text={`${number(progress.turns)} of ${number(turns)}`}
        />
      )}
      {tokens !== undefined && (
        <Meter
          label="Tokens"
          value={progress.tokens}
          limit={tokens}
          warnPercent={tokenSoft}
          text={
            isNarrow
              ? `${compact(progress.tokens)} of ${compact(tokens)}`
              : `${number(progress.tokens)} of ${number(tokens)}`
          }
        />
      )}
      {timeS !== undefined && (
        <Meter
          label="Time"
          value={usedS}
          limit={timeS}
          warnPercent={soft}
          text={isNarrow ? `${number(usedS)} s` : `${number(usedS)} of ${number(timeS)} s`}
        />
      )}
    </div>
  );
}
