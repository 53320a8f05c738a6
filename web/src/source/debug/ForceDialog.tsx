/** Forces the result of a node of a run that is paused. */
import { useState } from "react";
import { Button } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";
import { Select } from "@/parts/Select";
import type { RunModel } from "@/run/model";
import { placeOf, titleOf } from "@/run/words";
import type { Debugger } from "./useDebugger";

interface ForceDialogProps {
  model: RunModel;
  /** The node that is chosen first. */
  node: number;
  it: Debugger;
  onClose: () => void;
}

export function ForceDialog({ model, node: first, it, onClose }: ForceDialogProps) {
  const [node, setNode] = useState(first);
  const [wasSent, setSent] = useState(false);
  const send = (result: "success" | "failure") => {
    const path = model.nodes[node]?.path;
    if (path === undefined) return;
    setSent(true);
    it.send({ command: "force", path, result }, onClose);
  };
  return (
    <Dialog
      title="Force a result"
      onClose={onClose}
      actions={
        <>
          <Button disabled={it.isBusy} onClick={() => send("failure")}>
            Failure (“no”)
          </Button>
          <Button variant="primary" disabled={it.isBusy} onClick={() => send("success")}>
            Success
          </Button>
        </>
      }
    >
      <p className="mb-2.5 text-ink-2">
        The next time this node would be ticked, it returns this result instead. If it is running, it is
        halted first. A forced guard does not raise a limit.
      </p>
      <Select
        label="Node"
        className="w-full font-mono"
        value={String(node)}
        options={model.nodes.map((each) => ({
          value: String(each.index),
          label: `${placeOf(each)}  ${titleOf(each)}`,
        }))}
        onChange={(event) => setNode(Number(event.target.value))}
      />
      <p className="min-h-5 text-err" role="alert">
        {wasSent ? it.error : null}
      </p>
    </Dialog>
  );
}
