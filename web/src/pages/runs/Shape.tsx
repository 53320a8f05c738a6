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
      className="runs-shape"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {shape ? (
        <>
          <path className="runs-shape-model" d={shape.model} />
          <path className="runs-shape-tools" d={shape.tools} />
          <path className="runs-shape-notices" d={shape.notices} />
          {summary.node_errors > 0 && (
            <path className="runs-shape-error" d={`M${shape.width} 1l6 6l-6 6l-6-6z`} />
          )}
        </>
      ) : (
        run.status === "running" && (
          <rect className="runs-shape-so-far" y="3" width={widthOf(seconds)} height="8" />
        )
      )}
    </svg>
  );
}
