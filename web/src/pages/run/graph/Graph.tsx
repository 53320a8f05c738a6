/** The tree as a graph, with the statuses at one tick. */
import { useEffect, useMemo, useRef, useState, type CSSProperties } from "react";
import { Button } from "@/parts/Button";
import { toast } from "@/parts/Toast";
import { markWord } from "@/run/marks";
import type { RunModel } from "@/run/model";
import { placeOf } from "@/run/words";
import { save } from "@/parts/save";
import { pngOf, shownColours, svgOf } from "./files";
import { layoutOf, openNodes } from "./layout";
import { sceneOf, type Drawn, type Shape } from "./scene";
import { useZoom } from "./useZoom";

interface GraphProps {
  model: RunModel;
  at: number;
  /** Of the model. */
  version: number;
  selected: number | null;
  onSelect: (node: number) => void;
  /** Show the node in the source. */
  onOpen: (node: number) => void;
}

export function Graph({ model, at, version, selected, onSelect, onOpen }: GraphProps) {
  const frame = useRef<SVGSVGElement>(null);
  const [toggled, setToggled] = useState<ReadonlyMap<number, boolean>>(new Map());
  const scene = useMemo(() => {
    const way = model.path(at);
    const open = openNodes(model, selected === null ? way : [...way, selected]);
    for (const [node, isOpen] of toggled)
      if (isOpen) open.add(node);
      else open.delete(node);
    const facts = {
      markOf: (node: number) => model.mark(node, at),
      way: new Set(way),
      decision: model.decision(at),
      selected,
    };
    return sceneOf(layoutOf(model, open), facts);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the model is the same object when it has changed
  }, [model, at, version, selected, toggled]);
  const { zoom, fit, reveal, scaleBy, dragging } = useZoom(frame, scene);

  const decision = scene.nodes.find((each) => each.box.node === model.decision(at))?.box;
  useEffect(() => {
    const root = scene.nodes[0]?.box;
    if (decision === undefined || root === undefined) fit();
    else reveal(decision, root);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- it leads to a decision once, and stays where it is moved to
  }, [decision?.node]);

  const name = `run-${model.run.id.slice(0, 8)}-tick-${String(model.ticks[at]?.tick ?? 0)}`;
  const savePng = async () => {
    const data = await pngOf(scene, shownColours());
    if (data === null) toast("The picture could not be made.");
    else save(data, `${name}.png`);
  };
  const toggle = ({ box }: Drawn) => setToggled(new Map(toggled).set(box.node, box.hidden > 0));
  /** One node is in the order of Tab; the arrow keys lead from it to the others. */
  const entry = scene.nodes.find((each) => each.box.node === (selected ?? decision?.node)) ?? scene.nodes[0];
  const step = (from: Drawn, by: number) => {
    const to = scene.nodes.indexOf(from) + by;
    const next = scene.nodes[to];
    if (next === undefined) return;
    onSelect(next.box.node);
    frame.current?.querySelectorAll<SVGGElement>(".graph-node")[to]?.focus();
  };
  const isFolded = (each: Drawn) => each.box.hidden > 0;
  const hasChildren = (each: Drawn) => (model.children[each.box.node]?.length ?? 0) > 0;
  return (
    <div className="graph flex flex-1 flex-col min-h-0 bg-surface">
      <div className="flex flex-wrap gap-1.5 py-2 px-3" role="group" aria-label="Graph">
        <Button size="small" aria-label="Smaller" onClick={() => scaleBy(0.8)}>
          −
        </Button>
        <Button size="small" aria-label="Larger" onClick={() => scaleBy(1.25)}>
          +
        </Button>
        <Button size="small" onClick={fit}>
          Fit
        </Button>
        <Button
          size="small"
          onClick={() => setToggled(new Map(model.nodes.map((node) => [node.index, true])))}
        >
          Unfold all
        </Button>
        <Button
          size="small"
          onClick={() =>
            save(new Blob([svgOf(scene, shownColours())], { type: "image/svg+xml" }), `${name}.svg`)
          }
        >
          SVG
        </Button>
        <Button size="small" onClick={() => void savePng()}>
          PNG
        </Button>
        {selected !== null && (
          <Button size="small" variant="primary" onClick={() => onOpen(selected)}>
            Show in the source
          </Button>
        )}
      </div>
      <svg
        ref={frame}
        className="block flex-1 min-h-0 cursor-grab touch-none select-none active:cursor-grabbing [&_path]:[stroke-linecap:round] [&_path]:[stroke-linejoin:round] [&_text]:font-mono"
        role="tree"
        aria-label="Graph of the tree"
        tabIndex={-1}
        {...dragging}
      >
        <g transform={zoom ? `translate(${zoom.x} ${zoom.y}) scale(${zoom.scale})` : undefined}>
          <g aria-hidden="true">{scene.edges.map(shapeOf)}</g>
          {scene.nodes.map((each) => {
            const node = model.nodes[each.box.node];
            if (node === undefined) return null;
            return (
              <g
                key={node.index}
                className="graph-node cursor-pointer outline-none focus-visible:[&>path:first-child]:stroke-focus! focus-visible:[&>path:first-child]:stroke-[2.5px]!"
                role="treeitem"
                tabIndex={each === entry ? 0 : -1}
                aria-level={levelOf(model, node.index)}
                aria-label={`${wordsOf(each)}, ${markWord(model.mark(node.index, at))}, ${placeOf(node)}`}
                aria-selected={node.index === selected}
                aria-expanded={hasChildren(each) ? !isFolded(each) : undefined}
                onClick={() => onSelect(node.index)}
                onDoubleClick={() => (hasChildren(each) ? toggle(each) : onOpen(node.index))}
                onKeyDown={(event) => {
                  if (event.key === "Enter") onOpen(node.index);
                  else if (event.key === "ArrowDown") step(each, 1);
                  else if (event.key === "ArrowUp") step(each, -1);
                  else if (event.key === " ") {
                    onSelect(node.index);
                    if (hasChildren(each)) toggle(each);
                  } else return;
                  event.preventDefault();
                  event.stopPropagation();
                }}
              >
                {each.shapes.map(shapeOf)}
              </g>
            );
          })}
        </g>
      </svg>
    </div>
  );
}

/** What stands in a box. */
function levelOf(model: RunModel, node: number): number {
  let level = 1;
  for (let up = model.nodes[node]?.parent ?? null; up !== null; up = model.nodes[up]?.parent ?? null)
    level += 1;
  return level;
}

function wordsOf({ shapes }: Drawn): string {
  return shapes.flatMap((shape) => (shape.kind === "text" ? shape.text : [])).join(" ");
}

function shapeOf(shape: Shape, index: number) {
  if (shape.kind === "text") {
    const style: CSSProperties = { fill: `var(--${shape.fill})`, fontSize: shape.size };
    return (
      <text key={index} x={shape.x} y={shape.y} style={style} fontWeight={shape.isStrong ? 600 : undefined}>
        {`${shape.text} `}
      </text>
    );
  }
  const style: CSSProperties = {
    fill: shape.fill === undefined ? "none" : `var(--${shape.fill})`,
    ...(shape.stroke !== undefined && { stroke: `var(--${shape.stroke})`, strokeWidth: shape.width }),
  };
  return <path key={index} d={shape.d} transform={`translate(${shape.x} ${shape.y})`} style={style} />;
}
