import { usesOf } from "@/api/trees";
import type { Tree, TreeHead } from "./types";

/** Who uses a part of trees: "used by follow_signal in oracle, desk, strict". */
export function Uses({ tree, trees }: { tree: Tree | null; trees: readonly TreeHead[] }) {
  const { parts, whole } = usesOf(tree, trees);
  if (!parts.length && !whole.length) return null;
  return (
    <p className="truncate text-ink-3 text-sm">
      used by {parts.length > 0 && <b className="text-ink-2 font-medium">{parts.join(", ")}</b>}
      {parts.length > 0 && whole.length > 0 && " in "}
      {whole.length > 0 && <b className="text-ink-2 font-medium">{whole.join(", ")}</b>}
    </p>
  );
}
