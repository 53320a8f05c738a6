import { describe, expect, it } from "vitest";
import { stuckOnce, treeOf } from "./fixtures";
import { Mark } from "./marks";
import { RunModel } from "./model";
import { guidesOf, landmarks, segmentsOf, showRows, stickyRows, type ShownRow, type View } from "./rows";
import { sourceOf } from "./source";

const model = new RunModel(stuckOnce());
const source = sourceOf(treeOf(stuckOnce()));
const view = (tick: number, more: Partial<View> = {}): View => ({
  at: tick - 1,
  follow: true,
  opened: new Map(),
  room: () => 100,
  ...more,
});
const rowsAt = (tick: number, more: Partial<View> = {}): readonly ShownRow[] =>
  showRows(model, view(tick, more)).shown;
const line = (shown: readonly ShownRow[], file: string, number: number): ShownRow => {
  const found = shown.find((each) => each.row.file === file && each.row.line === number);
  if (found === undefined) throw new Error(`${file}:${number} is not shown`);
  return found;
};
const listed = (row: ShownRow): string =>
  [
    ...(row.values?.list ?? []).map(({ name, text }) => `${name} ${text}`),
    `→ ${row.values?.verdict?.text ?? ""}`,
  ].join(" · ");

describe("follow tick", () => {
  const shown = rowsAt(13);

  it("folds what the tick did not ask, and says how much that is", () => {
    expect(line(shown, "fallback.yaml", 36)).toMatchObject({ isFolded: true, note: "6 lines · not asked" });
    expect(shown.some(({ row }) => row.file === "fallback.yaml" && row.line === 39)).toBe(false);
  });

  it("hides children, names, blank lines, and all but the first line of a comment", () => {
    expect(shown.filter(({ row }) => /^(children|name):/.test(row.text) || row.kind === "blank")).toEqual([]);
    expect(line(shown, "fallback.yaml", 20).row.kind).toBe("comment");
    expect(shown.some(({ row }) => row.file === "fallback.yaml" && row.line === 21)).toBe(false);
    expect(line(shown, "fallback.yaml", 22).tag).toBe("other_strategy");
  });

  it("shows the root file's own lines before and behind the tree, folded", () => {
    expect(shown[0]).toMatchObject({ isFolded: true, note: "7 lines: description, blackboard" });
    expect(shown[1]?.row.text).toBe("root:");
  });

  it("puts values below their operands in a true condition of several clauses", () => {
    const row = line(shown, "fallback.yaml", 18);
    expect(row).toMatchObject({
      height: 40,
      values: { place: "operands", verdict: { text: "yes", tone: "yes" } },
    });
    const column = "- condition: ".length;
    expect(row.values?.placed).toEqual([
      { column, text: '"stuck"', tone: "no" },
      { column: column + 10, text: '"stuck"', tone: "no" },
      { column: column + 20, text: '"stuck"', tone: "yes" },
      { column: column + 41, text: "0", tone: "none" },
    ]);
  });

  it("makes a list of values that do not fit, with its verdict", () => {
    const row = line(rowsAt(13, { room: () => 50 }), "fallback.yaml", 18);
    expect(row.values?.place).toBe("below");
    expect(listed(row)).toBe('intent "stuck" · signal "stuck" · → yes');
  });

  it("puts other values behind the line, where they push out the comment", () => {
    const row = line(rowsAt(11), "follow_signal.yaml", 33);
    expect(row).toMatchObject({ height: 20, values: { place: "behind" } });
    expect(listed(row)).toBe('signal "need_turn" · same_reason 1 · → no');
    expect(line(shown, "oracle.yaml", 37)).toMatchObject({
      hidesNote: true,
      said: "0 ms · 4,539 tokens · signal stuck 0.5",
    });
  });

  it("says why a folded subtree said no", () => {
    const row = line(shown, "oracle.yaml", 41);
    expect(row).toMatchObject({ isFolded: true, note: "use_tools.yaml", mark: Mark.failure });
    expect(listed(row)).toBe("tool_calls 0 · → no");
  });

  it("names the file of an open subtree", () => {
    expect(line(shown, "oracle.yaml", 43)).toMatchObject({ isFolded: false, include: "follow_signal.yaml" });
  });

  it("folds the settings of a leaf, and shows what it did", () => {
    expect(line(shown, "fallback.yaml", 30)).toMatchObject({
      isDecision: true,
      note: "5 lines",
      said: "one more turn: 6 of 10",
    });
    expect(line(shown, "fallback.yaml", 27).said).toBe("strategies 0 → 1");
  });

  it("says whether a loop goes on", () => {
    expect(listed(line(shown, "oracle.yaml", 24))).toBe('termination_reason "" · → goes on');
  });

  it("opens and folds what was chosen by hand", () => {
    const wanted = line(shown, "fallback.yaml", 36).row.index;
    const opened = rowsAt(13, { opened: new Map([[wanted, true]]) });
    expect(line(opened, "fallback.yaml", 39).mark).toBe(Mark.notAsked);
  });
});

describe("all lines", () => {
  it("are the lines of the files, in order, each once", () => {
    const shown = rowsAt(13, { follow: false });
    expect(shown).toHaveLength(source.rows.length);
    const text = shown
      .filter(({ row }) => row.file === "fallback.yaml")
      .map(({ row }) => " ".repeat(row.indent) + row.text);
    expect(text.join("\n")).toBe(treeOf(stuckOnce()).files["fallback.yaml"]?.trimEnd());
  });

  it("fold the subtrees of a large tree, except on the way to the decision", () => {
    const page = stuckOnce();
    const tree = treeOf(page);
    const more = tree.nodes.slice(93, 94).flatMap((node) =>
      Array.from({ length: 60 }, (_, at) => ({
        ...node,
        kind: "finish",
        index: 96 + at,
        path: `more/${at}`,
        parent: 93,
      })),
    );
    const large = new RunModel({ ...page, tree: { ...tree, nodes: [...tree.nodes, ...more] } });
    const { shown } = showRows(large, view(13));
    expect(line(shown, "oracle.yaml", 41).isFolded).toBe(true);
    expect(line(shown, "fallback.yaml", 30).isDecision).toBe(true);
  });
});

describe("the parts of a line", () => {
  it("are its dash, kind, clauses and comment", () => {
    const segments = segmentsOf(line(rowsAt(13), "fallback.yaml", 18), source);
    expect(segments.map(({ text, kind, tone }) => [text, tone ?? kind])).toEqual([
      ["- ", "dash"],
      ["condition", "kind"],
      [":", "dash"],
      [" ", "code"],
      ["intent != signal", "no"],
      [" or ", "code"],
      ['signal == "stuck"', "yes"],
      [" or ", "code"],
      ["same_reason >= 3", "none"],
    ]);
  });

  it("have a mark before each further node of the line", () => {
    const segments = segmentsOf(line(rowsAt(3), "use_tools.yaml", 20), source);
    const begun = segments.filter(({ node }) => node !== undefined);
    expect(begun.map(({ node }) => source.nodes[node ?? 0]?.kind)).toEqual([
      "turn_budget",
      "token_budget",
      "run_tools",
    ]);
    expect(segments.map(({ text }) => text).join("")).toBe(
      "- sequence: [turn_budget, token_budget, run_tools]",
    );
  });

  it("keep the comment where nothing pushes it out", () => {
    const segments = segmentsOf(line(rowsAt(13), "oracle.yaml", 36), source);
    expect(segments.at(-1)).toMatchObject({
      kind: "comment",
      text: ' # once each: "Approaching iteration limit (7/10)…"',
    });
  });
});

describe("the way to the decision", () => {
  const tick = showRows(model, view(13));

  it("is a breadcrumb of names", () => {
    expect(landmarks(tick).map((node) => source.title(node))).toEqual([
      "turns",
      "after_turn",
      "follow_signal",
      "in_doubt",
      "fallback",
      "other_strategy",
      "grant_turn",
    ]);
  });

  it("leaves its last four landmarks in view", () => {
    const at = tick.shown.findIndex(({ isDecision }) => isDecision);
    const sticky = stickyRows(tick, 4, (count) => at - 4 + count);
    expect(sticky.map(({ row }) => row.line)).toEqual([43, 29, 35, 22].slice(0, sticky.length));
    expect(stickyRows(tick, 4, (count) => count)).toEqual([]);
  });

  it("is drawn in the tree's edges, in the colour of the node that they come from", () => {
    const grant = line(tick.shown, "fallback.yaml", 30);
    const guides = guidesOf(grant.row, tick, (node) => model.mark(node, 12));
    const edges = guides.filter(({ mark }) => mark !== null);
    expect(edges.map(({ isEnd, mark }) => [isEnd, mark])).toEqual([
      [true, Mark.success],
      [true, Mark.success],
    ]);
    expect(edges[1]?.until).toBe(grant.row.x);
    const before = line(tick.shown, "fallback.yaml", 16);
    expect(guidesOf(before.row, tick, (node) => model.mark(node, 12)).some(({ mark }) => mark !== null)).toBe(
      true,
    );
  });
});
