/** A tree as several pages ask for it, and who uses it. */
import { queryOptions } from "@tanstack/react-query";
import { api, unwrap } from "./client";
import type { TreeHead } from "./types";

export const treeQuery = (name: string) =>
  queryOptions({
    queryKey: ["trees", name],
    queryFn: ({ signal }) => unwrap(api.GET("/api/trees/{name}", { params: { path: { name } }, signal })),
    refetchOnWindowFocus: "always", // another user may have saved it meanwhile
  });

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
