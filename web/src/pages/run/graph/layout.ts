/** Where the nodes of a tree stand in its graph: from left to right by depth, from top to bottom by order. */
import { flextree } from "d3-flextree";
import type { NodeFacts } from "@/run/facts";
import { titleOf } from "@/run/words";

export interface Box {
  readonly node: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly title: string;
  /** Of the kind, where the title says something else. */
  readonly kind: string;
  /** How many nodes are folded in it. */
  readonly hidden: number;
}

export interface Layout {
  readonly boxes: readonly Box[];
  /** Pairs of positions in `boxes`. */
  readonly edges: readonly (readonly [from: number, to: number])[];
  readonly width: number;
  readonly height: number;
}

export interface Tree {
  readonly nodes: readonly NodeFacts[];
  readonly children: readonly (readonly number[])[];
}

/** Trees with more nodes begin folded below the second level. */
export const MOST_UNFOLDED = 48;
const UNFOLDED_DEPTH = 2;

const HEIGHT = 26;
const GAP = 8; // between siblings
const LANE = 36; // between levels
const MARGIN = 24;
const LONGEST = 26; // characters of a title
const TITLE_PX = 7;
const KIND_PX = 6.3;

/**
 * The nodes that are open: all of a small tree; of a large one the first levels, and the way to the nodes that the tick
 * is about.
 */
export function openNodes(tree: Tree, ways: Iterable<number>): Set<number> {
  const open = new Set<number>();
  const isSmall = tree.nodes.length <= MOST_UNFOLDED;
  const walk = (node: number, depth: number): void => {
    if (!isSmall && depth >= UNFOLDED_DEPTH) return;
    open.add(node);
    for (const child of tree.children[node] ?? []) walk(child, depth + 1);
  };
  if (tree.nodes.length > 0) walk(0, 0);
  for (const end of ways)
    for (let node = tree.nodes[end]?.parent ?? null; node !== null; node = tree.nodes[node]?.parent ?? null)
      open.add(node);
  return open;
}

interface Datum {
  readonly node: number;
  readonly width: number;
  readonly children: Datum[];
}

/** The graph of a tree in which only the children of open nodes are shown. */
export function layoutOf(tree: Tree, open: ReadonlySet<number>): Layout {
  if (tree.nodes.length === 0) return { boxes: [], edges: [], width: 0, height: 0 };
  const datum = (node: number): Datum => {
    const { title, kind } = words(tree.nodes[node]);
    return {
      node,
      width: 34 + title.length * TITLE_PX + (kind ? 8 + kind.length * KIND_PX : 0),
      children: open.has(node) ? (tree.children[node] ?? []).map(datum) : [],
    };
  };
  const layout = flextree<Datum>({
    nodeSize: (each) => [HEIGHT + GAP, each.data.width + LANE],
    spacing: 0,
  });
  const placed = layout(layout.hierarchy(datum(0))).nodes;
  const top = Math.min(...placed.map((each) => each.x));
  const at = new Map(placed.map((each, index) => [each.data.node, index]));
  const boxes = placed.map((each): Box => {
    const { node, width } = each.data;
    const hidden = open.has(node) ? 0 : descendants(tree, node);
    const place = { x: MARGIN + each.y, y: MARGIN + each.x - top, width, height: HEIGHT };
    return { node, ...place, ...words(tree.nodes[node]), hidden };
  });
  const edges = placed.flatMap((each, to) => {
    const from = each.parent ? at.get(each.parent.data.node) : undefined;
    return from === undefined ? [] : [[from, to] as const];
  });
  return {
    boxes,
    edges,
    width: Math.max(...boxes.map((box) => box.x + box.width)) + LANE + MARGIN,
    height: Math.max(...boxes.map((box) => box.y + box.height)) + MARGIN,
  };
}

function words(node: NodeFacts | undefined): { title: string; kind: string } {
  const whole = titleOf(node);
  const title = whole.length > LONGEST ? `${whole.slice(0, LONGEST - 1)}…` : whole;
  return { title, kind: node === undefined || node.kind === whole ? "" : node.kind };
}

function descendants(tree: Tree, node: number): number {
  const children = tree.children[node] ?? [];
  return children.reduce((sum, child) => sum + 1 + descendants(tree, child), 0);
}
