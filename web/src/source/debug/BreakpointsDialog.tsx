/** All breakpoints that the service keeps, and a form for those that stand at no line. */
import { useState, type SyntheticEvent } from "react";
import { Button } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";
import { TrashIcon } from "@/parts/icons";
import { Select } from "@/parts/Select";
import type { RunModel } from "@/run/model";
import { placeOf, titleOf } from "@/run/words";
import type { Breakpoint, NewBreakpoint, useBreakpoints } from "./useBreakpoints";

interface BreakpointsDialogProps {
  model: RunModel;
  breakpoints: ReturnType<typeof useBreakpoints>;
  onClose: () => void;
}

type Kind = "condition" | "error" | "start";

const KINDS: readonly { value: Kind; label: string }[] = [
  { value: "condition", label: "When this becomes true" },
  { value: "error", label: "When a node raises an error" },
  { value: "start", label: "Before the first tick" },
];

export function BreakpointsDialog({ model, breakpoints, onClose }: BreakpointsDialogProps) {
  const { all, add, remove, setEnabled } = breakpoints;
  return (
    <Dialog title="Breakpoints" onClose={onClose} width={600}>
      {all.length === 0 && (
        <p className="mb-2.5 text-ink-2">No breakpoints yet. Click next to a line number, or press B.</p>
      )}
      <ul className="list-none">
        {all.map((each) => (
          <li key={each.id} className="flex items-center justify-between gap-2 py-1 border-b border-line">
            <label className="flex gap-2 min-w-0 wrap-anywhere">
              <input
                type="checkbox"
                checked={each.enabled}
                onChange={(event) => setEnabled(each.id, event.target.checked)}
              />
              <span>
                {describe(each, model)} <span className="text-ink-3">{scopeOf(each)}</span>
                {each.problem !== null && <span className="min-h-5 text-err"> {each.problem}</span>}
              </span>
            </label>
            <Button
              variant="ghost"
              size="small"
              icon={<TrashIcon />}
              aria-label="Remove the breakpoint"
              onClick={() => remove(each.id)}
            />
          </li>
        ))}
      </ul>
      <NewForm model={model} onAdd={add} />
    </Dialog>
  );
}

function NewForm({ model, onAdd }: { model: RunModel; onAdd: (made: NewBreakpoint) => void }) {
  const [kind, setKind] = useState<Kind>("condition");
  const [expression, setExpression] = useState("");
  const { tree, user_id } = model.run;
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    onAdd({ kind, tree, user_id, expression: kind === "condition" ? expression : null });
    setExpression("");
  };
  return (
    <form className="flex flex-wrap gap-2 pt-3" onSubmit={submit}>
      <Select
        label="Kind of breakpoint"
        value={kind}
        options={KINDS}
        onChange={(event) => setKind(event.target.value as Kind)}
      />
      {kind === "condition" && (
        <input
          type="text"
          className="flex-1 min-w-40 py-1 px-2 border border-line-2 rounded-md bg-surface font-mono text-sm"
          aria-label="Condition"
          placeholder='signal == "stuck"'
          value={expression}
          spellCheck={false}
          onChange={(event) => setExpression(event.target.value)}
        />
      )}
      <Button type="submit" disabled={kind === "condition" && expression.trim() === ""}>
        Add
      </Button>
      <p className="flex-[0_0_100%] text-ink-3">
        It pauses the runs of {user_id} on the tree {tree}.
      </p>
    </form>
  );
}

function describe(each: Breakpoint, model: RunModel) {
  const node = each.path === null ? undefined : model.nodes.find((one) => one.path === each.path);
  const where = node ? (
    <>
      <b>{titleOf(node)}</b> <code>{placeOf(node)}</code>
    </>
  ) : (
    <code>{each.path}</code>
  );
  switch (each.kind) {
    case "node":
      return each.expression === null ? (
        where
      ) : (
        <>
          {where} if <code>{each.expression}</code>
        </>
      );
    case "condition":
      return <code>{each.expression}</code>;
    case "error":
      return each.path === null ? "any node error" : <>an error in {where}</>;
    case "start":
      return "before the first tick";
  }
}

function scopeOf(each: Breakpoint): string {
  const parts = [
    each.tree === null ? "" : `tree ${each.tree}`,
    each.user_id === null ? "" : `runs of ${each.user_id}`,
    each.run_id === null ? "" : `run ${each.run_id.slice(0, 8)}`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(", ") : "every run of every user";
}
