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

const NAME =
  "flex-none last:flex-initial last:overflow-hidden last:text-ellipsis not-first:before:content-['›'] not-first:before:mx-1.75";
const MARGIN_PX = 24; // and for the last name, which is bold
const BETWEEN_PX = 20;

/** The way to the decision in names; where there is little room, its beginning is left out. */
export function Breadcrumb({ file, view, nodes, room, onNode }: BreadcrumbProps) {
  const titles = nodes.map((node) => view.source.title(node));
  const left = leftOut([file, ...titles], room - MARGIN_PX);
  return (
    <nav
      className="flex-1 min-w-0 pl-3 pr-2 overflow-hidden text-ink-3 text-sm leading-5 whitespace-nowrap"
      aria-label="Path to the decision"
    >
      <ol className="flex items-baseline list-none">
        <li className={NAME}>{left === 0 ? file : "…"}</li>
        {nodes.map(
          (node, at) =>
            at + 1 >= left && (
              <li key={node} className={NAME}>
                <button
                  type="button"
                  className="border-0 py-0.5 px-0 bg-transparent [font:inherit] text-inherit hover:text-ink aria-[current]:text-ink aria-[current]:font-strong pointer-coarse:py-2"
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
