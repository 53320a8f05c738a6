import type { Tree, TreeHead } from "./types";

/** Who uses a part of trees: "used by follow_signal in oracle, desk, strict". */
export function Uses({ tree, trees }: { tree: Tree | null; trees: readonly TreeHead[] }) {
  const { parts, whole } = usesOf(tree, trees);
  if (!parts.length && !whole.length) return null;
  return (
    <p className="editor-uses">
      used by {parts.length > 0 && <b>{parts.join(", ")}</b>}
      {parts.length > 0 && whole.length > 0 && " in "}
      {whole.length > 0 && <b>{whole.join(", ")}</b>}
    </p>
  );
}

/** The trees that include one, directly or not: parts of others, and those that a question can name. */
export function usesOf(
  tree: Pick<TreeHead, "used_by"> | null,
  trees: readonly Pick<TreeHead, "name" | "internal">[],
) {
  const internal = new Set(trees.filter((each) => each.internal).map((each) => each.name));
  const uses = tree?.used_by ?? [];
  return {
    parts: uses.filter((name) => internal.has(name)),
    whole: uses.filter((name) => !internal.has(name)),
  };
}
