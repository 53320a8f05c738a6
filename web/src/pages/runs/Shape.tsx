import type { RunBody } from "./queries";
import { HEIGHT, shapeOf, WIDTH, widthOf } from "./shape";

interface ShapeProps {
  run: RunBody;
  /** How long it has taken so far. */
  seconds: number;
}

/** A drawing beside the figures that say the same. */
export function Shape({ run, seconds }: ShapeProps) {
  const { summary } = run;
  const shape = summary && shapeOf(summary.shape, seconds);
  return (
    <svg
      className="block w-full h-4.5 overflow-visible"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {shape ? (
        <>
          <path className="fill-run-fill" d={shape.model} />
          <path className="fill-ink-2" d={shape.tools} />
          <path
            className="fill-none stroke-warn-fill stroke-2 [vector-effect:non-scaling-stroke]"
            d={shape.notices}
          />
          {summary.node_errors > 0 && (
            <path className="fill-err-fill" d={`M${shape.width} 1l6 6l-6 6l-6-6z`} />
          )}
        </>
      ) : (
        run.status === "running" && (
          <rect
            className="fill-[color-mix(in_srgb,var(--run-fill)_45%,var(--surface))]"
            y="3"
            width={widthOf(seconds)}
            height="8"
          />
        )
      )}
    </svg>
  );
}
