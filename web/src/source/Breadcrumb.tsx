import type { TickView } from "@/run/rows";
import { measureWords } from "./measure";

interface BreadcrumbProps {
  file: string;
  view: TickView;
  /** The named nodes on the way to the decision, and the decision. */
  nodes: readonly number[];
  /** In px. */
  room: number;
  onNode: (node: number) => void;
}

const MARGIN_PX = 24; // and for the last name, which is bold
const BETWEEN_PX = 20;

/** The way to the decision in names; where there is little room, its beginning is left out. */
export function Breadcrumb({ file, view, nodes, room, onNode }: BreadcrumbProps) {
  const titles = nodes.map((node) => view.source.title(node));
  const left = leftOut([file, ...titles], room - MARGIN_PX);
  return (
    <nav className="source-crumbs" aria-label="Way to the decision">
      <ol>
        <li>{left === 0 ? file : "…"}</li>
        {nodes.map(
          (node, at) =>
            at + 1 >= left && (
              <li key={node}>
                <button
                  type="button"
                  aria-current={at === nodes.length - 1 ? "step" : undefined}
                  onClick={() => onNode(node)}
                >
                  {titles[at]}
                </button>
              </li>
            ),
        )}
      </ol>
    </nav>
  );
}

/** How many of the first names have no room; the last one always stands. */
function leftOut(names: readonly string[], room: number): number {
  let used = 0;
  for (let at = names.length - 1; at >= 0; at--) {
    used += measureWords(names[at] ?? "") + BETWEEN_PX;
    const isLast = at === names.length - 1;
    if (used + (at === 0 ? -BETWEEN_PX : BETWEEN_PX) > room && !isLast) return at + 1;
  }
  return 0;
}
