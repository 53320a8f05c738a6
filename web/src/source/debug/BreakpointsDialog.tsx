/** All breakpoints that the service keeps, and a form for those that stand at no line. */
import { useState, type SyntheticEvent } from "react";
import { Button } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";
import { TrashIcon } from "@/parts/icons";
import { Select } from "@/parts/Select";
import type { RunModel } from "@/run/model";
import { placeOf, titleOf } from "@/run/words";
import type { Breakpoint, NewBreakpoint, useBreakpoints } from "./useBreakpoints";
import "./Dialogs.css";

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
      {all.length === 0 && <p className="debug-about">None yet. Click beside a line number, or press B.</p>}
      <ul className="debug-list">
        {all.map((each) => (
          <li key={each.id}>
            <label>
              <input
                type="checkbox"
                checked={each.enabled}
                onChange={(event) => setEnabled(each.id, event.target.checked)}
              />
              <span>
                {describe(each, model)} <span className="debug-scope">{scopeOf(each)}</span>
                {each.problem !== null && <span className="debug-problem"> {each.problem}</span>}
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
    <form className="debug-new" onSubmit={submit}>
      <Select
        label="Kind of breakpoint"
        value={kind}
        options={KINDS}
        onChange={(event) => setKind(event.target.value as Kind)}
      />
      {kind === "condition" && (
        <input
          type="text"
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
      <p className="debug-scope">
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
      return where;
    case "condition":
      return <code>{each.expression}</code>;
    case "error":
      return each.path === null ? "any error of a node" : <>an error of {where}</>;
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
