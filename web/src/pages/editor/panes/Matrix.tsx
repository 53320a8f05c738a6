import type { ReplayedCell, ReplayTrack } from "../types";

interface MatrixProps {
  title: string;
  tracks: readonly ReplayTrack[];
  side: "old" | "new";
  /** The first tick that differs. */
  tick: number;
}

const ROW = 18;
const LABELS = 112;
const WIDTH = 376;
const WIDEST = 14;

/** A few nodes, a column per tick, with a line at the first tick that differs. */
export function Matrix({ title, tracks, side, tick }: MatrixProps) {
  const ticks = ticksOf(tracks);
  const column = Math.min(WIDEST, (WIDTH - LABELS) / Math.max(1, ticks.length));
  const x = new Map(ticks.map((each, at) => [each, LABELS + (at + 0.5) * column]));
  const head = (x.get(tick) ?? LABELS) - column / 2;
  const height = tracks.length * ROW;
  return (
    <figure className="mt-3">
      <h3 className="mb-1 text-ink-2 text-xs">{title}</h3>
      <svg
        className="block w-full [font:11px_var(--mono)]"
        viewBox={`0 0 ${WIDTH} ${height}`}
        role="img"
        aria-label={`${title}: ${inWords(tracks, side, tick)}`}
      >
        {tracks.map((track, row) => (
          <g key={track.path} transform={`translate(0 ${(row + 0.5) * ROW})`}>
            <text className="fill-ink-2" y="4">
              {short(track.label)}
            </text>
            {track[side].map((cell) => (
              <Cell key={cell.tick} cell={cell} x={x.get(cell.tick) ?? 0} width={Math.min(column - 2, 9)} />
            ))}
          </g>
        ))}
        <line className="stroke-head [stroke-width:1.5]" x1={head} x2={head} y1="0" y2={height} />
      </svg>
    </figure>
  );
}

function Cell({ cell, x, width }: { cell: ReplayedCell; x: number; width: number }) {
  const half = Math.max(width, 2) / 2;
  switch (cell.status) {
    case "success":
      return <rect className="fill-ok-fill" x={x - half} y="-5" width={half * 2} height="10" rx="1.5" />;
    case "running":
      return <rect className="fill-run-fill" x={x - half} y="-2" width={half * 2} height="4" rx="1.5" />;
    case "failure":
      return (
        <path
          className="[fill:none] stroke-fail-fill [stroke-width:1.6] [stroke-linecap:round]"
          d={`M${x - half} -4 ${x + half} 4M${x + half} -4 ${x - half} 4`}
        />
      );
    case "invalid":
      return <circle className="fill-line-3" cx={x} r="1.2" />;
  }
}

/** All ticks of both sides, so that the columns of two matrices agree. */
export function ticksOf(tracks: readonly ReplayTrack[]): number[] {
  const ticks = new Set(tracks.flatMap((track) => [...track.old, ...track.new].map((cell) => cell.tick)));
  return [...ticks].sort((a, b) => a - b);
}

function inWords(tracks: readonly ReplayTrack[], side: "old" | "new", tick: number): string {
  const said = tracks.map((track) => {
    const cell = track[side].find((each) => each.tick === tick);
    return `${track.label} ${cell ? cell.status : "not asked"}`;
  });
  return `tick ${tick}: ${said.join(", ")}`;
}

const short = (label: string) => (label.length > 15 ? `${label.slice(0, 14)}…` : label);
