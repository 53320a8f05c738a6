/** The source of a tree as the service lays it out: its lines as rows, and where each node begins. */
import type { NodeFacts, RowFacts, TreeFacts } from "./facts";
import { titleOf } from "./words";

/** A line of the source. */
export interface SourceRow extends Readonly<Required<RowFacts>> {
  /** Of this row among all rows. */
  readonly index: number;
  /** Without the spaces before it. */
  readonly text: string;
  /** Where the text begins, in px from the text of the root file; subtrees begin where they are included. */
  readonly x: number;
}

export const INDENT_PX = 4;
const INCLUDE_PX = 14; // as wide as the dash before the node that includes
const BARE = { nodes: [], owner: null, level: 1, indent: 0, offset: 0, includes: 0, last: 0, summary: "" };

/** Made once for a version of a tree. */
export class Source {
  readonly rows: readonly SourceRow[];
  readonly children: readonly (readonly number[])[];
  private readonly rowOfNode: Int32Array;
  private readonly rowOfLine = new Map<string, number>();

  constructor(readonly tree: TreeFacts) {
    const { nodes, files } = tree;
    const children: number[][] = nodes.map(() => []);
    for (const node of nodes) if (node.parent !== null) children[node.parent]?.push(node.index);
    this.children = children;
    const lines = new Map(Object.entries(files).map(([file, text]) => [file, text.split("\n")]));
    this.rows = (tree.rows ?? []).map((facts, index) => {
      const row = { ...BARE, ...facts };
      const text = lines.get(row.file)?.[row.line - 1]?.trim() ?? "";
      return { ...row, index, text, x: row.offset * INDENT_PX + row.includes * INCLUDE_PX };
    });
    this.rowOfNode = new Int32Array(nodes.length).fill(-1);
    for (const row of this.rows) {
      for (const node of row.nodes) this.rowOfNode[node] = row.index;
      const key = `${row.nodes[0] ?? row.owner ?? ""}:${row.line}`;
      if (!this.rowOfLine.has(key)) this.rowOfLine.set(key, row.index);
    }
  }

  get nodes(): readonly NodeFacts[] {
    return this.tree.nodes;
  }

  /** The row that a node begins in; -1 if its file is not known. */
  rowOf(node: number): number {
    return this.rowOfNode[node] ?? -1;
  }

  /** The row with a line of a node's settings; else the node's own. */
  rowOfSetting(node: number, line: number): number {
    return this.rowOfLine.get(`${node}:${line}`) ?? this.rowOf(node);
  }

  /** The node is a subtree: its child is the root of another file. */
  isInclude(node: number): boolean {
    return this.nodes[node]?.kind === "subtree" && this.children[node]?.[0] !== undefined;
  }

  /** The file that a subtree includes. */
  includedFile(node: number): string {
    return this.nodes[this.children[node]?.[0] ?? -1]?.file ?? "";
  }

  title(node: number): string {
    return titleOf(this.nodes[node]);
  }

  /** The node has a name of its own, or is a subtree: a place that people know. */
  isLandmark(node: number): boolean {
    return this.nodes[node]?.name != null || this.isInclude(node);
  }
}

const made = new WeakMap<TreeFacts, Source>();

/** The source of a version of a tree; the same object for the same facts. */
export function sourceOf(tree: TreeFacts): Source {
  let source = made.get(tree);
  if (source === undefined) made.set(tree, (source = new Source(tree)));
  return source;
}
