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
const nodeNamed = (name: string): number => tree.nodes.findIndex((node) => node.name === name);

describe("the rows of a source", () => {
  it("begin every node in the line of its own file", () => {
    for (const node of tree.nodes) {
      const row = source.rows[source.rowOf(node.index)];
      expect(row).toMatchObject({ file: node.file, line: node.line });
      expect(row?.nodes).toContain(node.index);
    }
  });

  it("fold in a subtree's file behind the line that includes it", () => {
    const include = rowAt("oracle.yaml", 43);
    const included = source.rows[include.index + 1];
    expect(included).toMatchObject({ file: "follow_signal.yaml", line: 1 });
    expect(source.rows[include.last]?.file).toBe("follow_signal.yaml");
    expect(source.rows[include.last + 1]).toMatchObject({ file: "oracle.yaml", line: 44, text: "then:" });
  });

  it("end a node with its last line, its settings and children among them", () => {
    const sequence = source.rows[source.rowOf(nodeNamed("other_strategy"))];
    expect(source.rows[sequence?.last ?? 0]).toMatchObject({ file: "fallback.yaml", line: 34 });
    const grant = rowAt("fallback.yaml", 30);
    expect(grant.last - grant.index).toBe(4);
    expect(source.rows[grant.index + 1]).toMatchObject({ kind: "setting", owner: grant.nodes[0] });
  });

  it("give a comment between children to their parent", () => {
    const selector = rowAt("fallback.yaml", 19);
    expect(rowAt("fallback.yaml", 35)).toMatchObject({ kind: "comment", owner: selector.nodes[0] });
  });

  it("hold all nodes of a flow sequence", () => {
    const row = rowAt("use_tools.yaml", 20);
    expect(row.nodes.map((node) => tree.nodes[node]?.kind)).toEqual([
      "sequence",
      "turn_budget",
      "token_budget",
      "run_tools",
    ]);
  });

  it("say what is folded before the root", () => {
    expect(rowAt("oracle.yaml", 7).summary).toBe("7 lines: description, blackboard");
  });

  it("are indented four pixels a space, from the line that includes them", () => {
    const include = rowAt("oracle.yaml", 43);
    expect(rowAt("follow_signal.yaml", 7).x).toBe(include.x + 14);
    expect(rowAt("follow_signal.yaml", 9).x).toBe(include.x + 14 + 2 * INDENT_PX);
  });
});
