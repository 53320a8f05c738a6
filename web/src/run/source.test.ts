import { describe, expect, it } from "vitest";
import { stuckOnce, treeOf } from "./fixtures";
import { INDENT_PX, sourceOf, type SourceRow } from "./source";

const tree = treeOf(stuckOnce());
const source = sourceOf(tree);
const rowAt = (file: string, line: number): SourceRow => {
  const row = source.rows.find((each) => each.file === file && each.line === line);
  if (row === undefined) throw new Error(`no row ${file}:${line}`);
  return row;
};

describe("the rows of a source", () => {
  it("begin every node in the line of its own file", () => {
    for (const node of tree.nodes) {
      const row = source.rows[source.rowOf(node.index)];
      expect(row).toMatchObject({ file: node.file, line: node.line });
      expect(row?.nodes).toContain(node.index);
    }
  });

  it("are indented four pixels a space, from the line that includes them", () => {
    const include = rowAt("oracle.yaml", 43);
    expect(rowAt("follow_signal.yaml", 7).x).toBe(include.x + 14);
    expect(rowAt("follow_signal.yaml", 9).x).toBe(include.x + 14 + 2 * INDENT_PX);
  });
});
