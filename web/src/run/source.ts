/**
 * The source of a tree as rows: the lines of its root file, with the files of subtrees folded in where they are included.
 *
 * A row belongs to the innermost node whose lines it is among. Line numbers are those of the row's own file. A file that
 * is included twice has its rows twice, each with the nodes of that inclusion.
 */
import type { NodeFacts, TreeFacts } from "./facts";
import { counted } from "./words";

export type RowKind = "node" | "setting" | "comment" | "blank";

/** A line of the source. */
export interface SourceRow {
  /** Of this row among all rows. */
  readonly index: number;
  readonly kind: RowKind;
  readonly file: string;
  readonly line: number;
  /** Without the spaces before it. */
  readonly text: string;
  /** Spaces before the text, in the file. */
  readonly indent: number;
  /** Where the text begins, in px from the text of the root file; subtrees begin where they are included. */
  readonly x: number;
  /** Depth among nodes, from 1. */
  readonly level: number;
  /** The nodes that begin on this line, the outermost first. */
  readonly nodes: readonly number[];
  /** The innermost node around the line; `null` outside of all. Of a line with a node, the one around that. */
  readonly owner: number | null;
  /** The last row of what begins here: it is this one, or is folded with this one. */
  readonly last: number;
  /** What is folded behind a line outside of all nodes: `14 lines: description, blackboard`. */
  readonly summary?: string;
}

export const INDENT_PX = 4;
const INCLUDE_PX = 14; // as wide as the dash before the node that includes

type MutableRow = { -readonly [Key in keyof SourceRow]: SourceRow[Key] };

/** Rows, and where each node begins. Made once for a version of a tree. */
export class Source {
  readonly rows: readonly SourceRow[];
  readonly children: readonly (readonly number[])[];
  private readonly rowOfNode: Int32Array;
  private readonly rowOfLine = new Map<string, number>();

  constructor(readonly tree: TreeFacts) {
    const { nodes } = tree;
    const children: number[][] = nodes.map(() => []);
    for (const node of nodes) if (node.parent !== null) children[node.parent]?.push(node.index);
    this.children = children;
    this.rowOfNode = new Int32Array(nodes.length).fill(-1);
    this.rows = nodes.length === 0 ? [] : new Builder(tree, children).build();
    for (const row of this.rows) {
      for (const node of row.nodes) this.rowOfNode[node] = row.index;
      const node = row.nodes[0] ?? row.owner;
      const key = `${node ?? ""}:${row.line}`;
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
    return isInclude(this.tree.nodes, this.children, node);
  }

  /** The file that a subtree includes. */
  includedFile(node: number): string {
    return this.tree.nodes[this.children[node]?.[0] ?? -1]?.file ?? "";
  }

  /** What people call a node: its name, else the tree that it includes, else its kind. */
  title(node: number): string {
    const facts = this.tree.nodes[node];
    return [facts?.title, facts?.name, facts?.kind].find((each) => each) ?? "";
  }

  /** The node has a name of its own, or is a subtree: a place that people know. */
  isLandmark(node: number): boolean {
    return this.tree.nodes[node]?.name != null || this.isInclude(node);
  }
}

const made = new WeakMap<TreeFacts, Source>();

/** The source of a version of a tree; the same object for the same facts. */
export function sourceOf(tree: TreeFacts): Source {
  let source = made.get(tree);
  if (source === undefined) made.set(tree, (source = new Source(tree)));
  return source;
}

function isInclude(
  nodes: readonly NodeFacts[],
  children: readonly (readonly number[])[],
  node: number,
): boolean {
  const child = children[node]?.[0];
  return nodes[node]?.kind === "subtree" && child !== undefined;
}

interface Open {
  readonly node: number;
  readonly indent: number;
  readonly row: number;
  readonly hasDash: boolean;
}

class Builder {
  private readonly rows: MutableRow[] = [];

  constructor(
    private readonly tree: TreeFacts,
    private readonly children: readonly (readonly number[])[],
  ) {}

  build(): SourceRow[] {
    this.addFile(0, { x: 0, level: 1 });
    this.foldHead(this.tree.nodes[0]?.file ?? "");
    return this.rows;
  }

  /** Add the lines of the file whose root node this is, with its subtrees. */
  private addFile(root: number, place: { x: number; level: number }): void {
    const { nodes, files } = this.tree;
    const facts = nodes[root];
    if (facts === undefined) return;
    const lines = (files[facts.file] ?? "").split("\n");
    while (lines.length > 0 && lines.at(-1)?.trim() === "") lines.pop();
    const base = indentOf(lines[facts.line - 1] ?? "");
    const begins = this.begins(root);
    const open: Open[] = [];
    lines.forEach((line, at) => {
      const indent = indentOf(line);
      const text = line.trim();
      if (text !== "") this.close(open, depthFor(open, indent, text));
      const begun = begins.get(at + 1) ?? [];
      const kind =
        begun.length > 0 ? "node" : text === "" ? "blank" : text.startsWith("#") ? "comment" : "setting";
      const row = {
        index: this.rows.length,
        kind,
        file: facts.file,
        line: at + 1,
        text,
        indent,
        x: place.x + (indent - base) * INDENT_PX,
        level: place.level + open.length,
        nodes: begun,
        owner: open.at(-1)?.node ?? null,
        last: this.rows.length,
      } satisfies SourceRow;
      this.rows.push(row);
      const node = begun[0];
      if (node !== undefined) open.push({ node, indent, row: row.index, hasDash: text.startsWith("-") });
      if (kind !== "blank") for (const each of open) this.setLast(each.row, row.index);
    });
    this.close(open, 0);
  }

  /** The nodes of one use of a file, by the line in which they begin. */
  private begins(root: number): Map<number, number[]> {
    const begins = new Map<number, number[]>();
    const visit = (node: number): void => {
      const line = this.tree.nodes[node]?.line ?? 0;
      const known = begins.get(line);
      if (known === undefined) begins.set(line, [node]);
      else known.push(node);
      if (!isInclude(this.tree.nodes, this.children, node)) this.children[node]?.forEach(visit);
    };
    visit(root);
    return begins;
  }

  /** End nodes, down to a depth; what a subtree includes comes after its own lines. */
  private close(open: Open[], depth: number): void {
    while (open.length > depth) {
      const ended = open.pop();
      const row = ended && this.rows[ended.row];
      if (ended === undefined || row === undefined) return;
      const included = row.nodes.find((node) => isInclude(this.tree.nodes, this.children, node));
      const child = included === undefined ? undefined : this.children[included]?.[0];
      if (child !== undefined) {
        this.addFile(child, { x: row.x + INCLUDE_PX, level: row.level + 1 });
        for (const each of [ended, ...open]) this.setLast(each.row, this.rows.length - 1);
      }
    }
  }

  private setLast(index: number, last: number): void {
    const row = this.rows[index];
    if (row !== undefined) row.last = Math.max(row.last, last);
  }

  /** What stands before the root of the first file is folded into its first line, and so is each block behind it. */
  private foldHead(file: string): void {
    const outer = this.rows.filter(
      (row) => row.kind === "setting" && row.owner === null && row.file === file && row.indent === 0,
    );
    const root = outer.findIndex((row) => row.text.startsWith("root:"));
    const end = (row: SourceRow | undefined): number =>
      (row === undefined ? this.rows.length : row.index) - 1;
    outer.forEach((row, at) => {
      const whole = this.rows[row.index];
      if (whole === undefined || at === root || (at > 0 && at < root)) return;
      whole.last = at < root ? end(outer[root]) : end(outer[at + 1]);
      while (whole.last > row.index && this.rows[whole.last]?.kind !== "setting") whole.last -= 1;
      const names = at < root ? outer.slice(1, root).map((each) => each.text.split(":")[0] ?? "") : [];
      const count = counted((this.rows[whole.last]?.line ?? row.line) - row.line, "line");
      if (whole.last > row.index) whole.summary = names.length > 0 ? `${count}: ${names.join(", ")}` : count;
    });
  }
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** How many of the open nodes go on in a line. */
function depthFor(open: readonly Open[], indent: number, text: string): number {
  let depth = open.length;
  for (; depth > 0; depth--) {
    const last = open[depth - 1];
    if (last === undefined || indent > last.indent) break;
    if (indent === last.indent && text.startsWith("-") && !last.hasDash) break; // a list under its key, not indented
  }
  return depth;
}
