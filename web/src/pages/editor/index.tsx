import { useQuery } from "@tanstack/react-query";

import { treeQuery } from "@/api/trees";
import { ApiError } from "@/api/client";
import { useMe } from "@/api/queries";
import { LinkButton } from "@/parts/Button";
import { EmptyState } from "@/parts/EmptyState";
import { Skeleton } from "@/parts/Skeleton";
import { useTitle } from "@/store/title";

import { readDraft } from "@/store/drafts";
import { Workbench } from "./Workbench";

/** A tree's source, edited with what the service says about it. */
export default function Editor({ name }: { name: string }) {
  useTitle(`${name} · Tree`);
  const tree = useQuery(treeQuery(name));
  const me = useMe();
  const isMissing = tree.error instanceof ApiError && tree.error.status === 404;
  if (tree.data && me.data) {
    return <Workbench name={name} tree={tree.data} isOperator={me.data.is_operator} />;
  }
  if (isMissing && me.data?.is_operator && readDraft(name)?.base === null) {
    return <Workbench name={name} tree={null} isOperator />;
  }
  if (isMissing) {
    return (
      <EmptyState
        isPage
        title={`There is no tree ${name}`}
        action={<LinkButton href="/trees">All trees</LinkButton>}
      />
    );
  }
  if (tree.error)
    return (
      <EmptyState isPage title="The tree cannot be shown">
        {tree.error.message}
      </EmptyState>
    );
  return <Skeleton label="Loading the tree" />;
}
