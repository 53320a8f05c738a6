import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";

import { Button } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";
import { Select } from "@/parts/Select";
import { toast } from "@/parts/Toast";

import { treeQuery } from "@/api/trees";
import { keepDraft } from "@/store/drafts";
import type { TreeHead } from "@/api/types";
import { copyOf, emptyTree, nameProblem } from "./newTrees";

const EMPTY = "";

/** Asks for a name and a template; the text is saved in the editor. */
export function NewTree({ trees, onClose }: { trees: readonly TreeHead[]; onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [template, setTemplate] = useState(EMPTY);
  const [, go] = useLocation();
  const problem = nameProblem(
    name,
    trees.map((tree) => tree.name),
  );
  const create = async () => {
    const source = template === EMPTY ? null : (await client.query(treeQuery(template))).source;
    keepDraft(name, { text: source === null ? emptyTree(name) : copyOf(source, template, name), base: null });
    go(`/trees/${name}`);
  };
  return (
    <Dialog
      title="New tree"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form="new-tree" disabled={name === "" || problem !== null}>
            Create
          </Button>
        </>
      }
    >
      <form
        id="new-tree"
        className="grid gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (name === "" || problem !== null) return;
          create().catch((error: unknown) =>
            toast(error instanceof Error ? error.message : "The template cannot be read."),
          );
        }}
      >
        <label className="grid gap-1 font-medium">
          Name
          <input
            // eslint-disable-next-line jsx-a11y/no-autofocus -- the dialog was opened to write it
            autoFocus
            className="h-8 py-0 px-2 border border-line-2 rounded-md bg-surface font-mono"
            value={name}
            aria-invalid={name !== "" && problem !== null}
            aria-describedby="new-tree-problem"
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <p id="new-tree-problem" className="text-ink-3 text-sm" role="status">
          {name === "" ? "Lower-case letters, digits, _ and -." : problem}
        </p>
        <div className="grid gap-1 font-medium">
          Begin with
          <Select
            label="Template"
            value={template}
            options={[
              { value: EMPTY, label: "the smallest tree that answers" },
              ...trees.map((tree) => ({ value: tree.name, label: `a copy of ${tree.name}` })),
            ]}
            onChange={(event) => setTemplate(event.target.value)}
          />
        </div>
      </form>
    </Dialog>
  );
}
