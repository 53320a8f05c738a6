import { describe, expect, test } from "vitest";
import { Mark } from "@/run/marks";
import { sampleNodes } from "@/run/sample";
import { svgOf } from "./files";
import { layoutOf, MOST_UNFOLDED, openNodes, type Box, type Tree } from "./layout";
import { sceneOf } from "./scene";
import { offset } from "./useZoom";

function treeOf(parents: readonly (number | null)[], name = (index: number) => `node${String(index)}`): Tree {
  const nodes = sampleNodes(
    parents.map((parent, index) => ({ parent, kind: "sequence", category: "composite", name: name(index) })),
  );
  const children: number[][] = nodes.map(() => []);
  for (const node of nodes) if (node.parent !== null) children[node.parent]?.push(node.index);
  return { nodes, children };
}
const chain = (length: number) =>
  treeOf(Array.from({ length }, (_, index) => (index === 0 ? null : index - 1)));
const overlaps = (one: Box, other: Box) =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

describe("the graph", () => {
  test("no two nodes overlap, whatever their names", () => {
    const parents = [null, 0, 0, 0, 1, 1, 2, 2, 2, 3, 9, 9];
    const tree = treeOf(parents, (index) => "x".repeat((index * 7) % 30) || "a");
    const { boxes, edges } = layoutOf(tree, openNodes(tree, []));
    expect(boxes).toHaveLength(parents.length);
    expect(edges).toHaveLength(parents.length - 1);
    boxes.forEach((one, at) =>
      boxes.slice(at + 1).forEach((other) => expect(overlaps(one, other)).toBe(false)),
    );
  });

  test("siblings keep the order of the file, from top to bottom", () => {
    const tree = treeOf([null, 0, 0, 0]);
    const boxes = layoutOf(tree, openNodes(tree, [])).boxes.filter((box) => box.node > 0);
    const byHeight = [...boxes].sort((one, other) => one.y - other.y).map((box) => box.node);
    expect(byHeight).toEqual([1, 2, 3]);
  });

  test("a large tree is folded below its second level, but for the way to the decision", () => {
    const tree = chain(MOST_UNFOLDED + 2);
    const folded = layoutOf(tree, openNodes(tree, []));
    expect(folded.boxes.map((box) => box.hidden)).toEqual([0, 0, MOST_UNFOLDED - 1]);
    expect(layoutOf(tree, openNodes(tree, [20])).boxes).toHaveLength(21);
    expect(layoutOf(chain(10), openNodes(chain(10), [])).boxes).toHaveLength(10);
  });

  test("a run without a tree has an empty graph", () => {
    expect(layoutOf({ nodes: [], children: [] }, new Set()).boxes).toEqual([]);
  });
});

test("a place is in the middle of the frame, as far as the drawing reaches", () => {
  expect([50, 400, 790].map((middle) => offset(200, 800, middle))).toEqual([0, -300, -600]);
  expect(offset(200, 100, 90)).toBe(50);
});

test("the file shows hostile names as text", () => {
  const tree = treeOf([null, 0], (index) => (index ? '<script>"&\u0000' : "root"));
  const facts = { markOf: () => Mark.success, way: new Set([0, 1]), decision: 1, selected: null };
  const text = svgOf(sceneOf(layoutOf(tree, new Set([0])), facts), (paint) => `#${paint}`);
  expect(text).not.toContain("<script");
  expect(text).not.toContain("\u0000");
  expect(text).toContain("&lt;script&gt;&quot;&amp;<");
  expect(text).toContain('stroke="#ok-fill"');
});
