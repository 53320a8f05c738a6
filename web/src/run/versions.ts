/** Two versions of a tree on one source: which nodes are the same by their path, and which lines differ. */
import type { TreeFacts } from "./facts";
import { matchLines } from "./lineDiff";
import { sourceOf, type SourceRow } from "./source";

export class Versions {
  private readonly newNodes: Int32Array;
  private readonly removed = new Set<number>(); // rows of the old source
  private readonly added = new Map<number, SourceRow[]>(); // of the new source, by the old row that they follow

  constructor(old: TreeFacts, fresh: TreeFacts) {
    const byPath = new Map(fresh.nodes.map((node) => [node.path, node.index]));
    this.newNodes = Int32Array.from(old.nodes, (node) => byPath.get(node.path) ?? -1);
    if (old.version !== fresh.version) this.compare(old, fresh);
  }

  /** The node of the new version with the same path; `null` if there is none. */
  newNode(node: number): number | null {
    const found = this.newNodes[node] ?? -1;
    return found < 0 ? null : found;
  }

  /** A row of the old source is not in the new one. */
  isRemoved(row: number): boolean {
    return this.removed.has(row);
  }

  /** The rows of the new source that stand behind a row of the old one, and are not in that. */
  addedBehind(row: number): readonly SourceRow[] {
    return this.added.get(row) ?? [];
  }

  private compare(old: TreeFacts, fresh: TreeFacts): void {
    const oldSource = sourceOf(old);
    const freshSource = sourceOf(fresh);
    const oldLine = new Map<string, number>(); // by file and new line
    const isKept = new Set<string>();
    for (const [file, text] of Object.entries(old.files)) {
      matchLines(text.split("\n"), (fresh.files[file] ?? "").split("\n")).forEach((to, from) => {
        if (to < 0) return;
        isKept.add(`${file}:${from + 1}`);
        oldLine.set(`${file}:${to + 1}`, from + 1);
      });
    }
    const oldRows = new Map<string, number>(); // by the node around, file and line
    for (const row of oldSource.rows) {
      const node = row.nodes[0] ?? row.owner;
      oldRows.set(`${node === null ? "" : (old.nodes[node]?.path ?? "")}|${row.file}:${row.line}`, row.index);
      if (row.kind !== "blank" && !isKept.has(`${row.file}:${row.line}`)) this.removed.add(row.index);
    }
    let behind = -1;
    for (const row of freshSource.rows) {
      const line = oldLine.get(`${row.file}:${row.line}`);
      const node = row.nodes[0] ?? row.owner;
      const path = node === null ? "" : (fresh.nodes[node]?.path ?? "");
      if (line !== undefined) {
        behind = oldRows.get(`${path}|${row.file}:${line}`) ?? behind;
      } else if (row.kind !== "blank") {
        while (this.removed.has(behind + 1)) behind += 1;
        const known = this.added.get(behind);
        if (known === undefined) this.added.set(behind, [row]);
        else known.push(row);
      }
    }
  }
}

let last: { old: TreeFacts; fresh: TreeFacts; versions: Versions } | null = null;

/** The comparison of two versions; the same object as long as the same two are asked for. */
export function versionsOf(old: TreeFacts, fresh: TreeFacts): Versions {
  if (last?.old !== old || last.fresh !== fresh) last = { old, fresh, versions: new Versions(old, fresh) };
  return last.versions;
}
