/** Changes a blackboard value of a run that is paused; its next tick gets it. */
import { useId, useState } from "react";
import { Button } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";
import type { BoardRow } from "@/run/board";
import type { Debugger } from "./useDebugger";

interface ValueDialogProps {
  row: BoardRow;
  it: Debugger;
  onClose: () => void;
}

export function ValueDialog({ row, it, onClose }: ValueDialogProps) {
  const [text, setText] = useState(() => JSON.stringify(row.value ?? null, null, 1));
  const [wasSent, setSent] = useState(false);
  const id = useId();
  const parsed = parse(text);
  const problem = parsed.ok
    ? wasSent
      ? it.error
      : null
    : "This is not valid JSON. Put text in double quotes.";
  const send = () => {
    if (!parsed.ok) return;
    setSent(true);
    it.send({ command: "set", key: row.key, value: parsed.value }, onClose);
  };
  return (
    <Dialog
      title={
        <>
          Change <code>{row.key}</code>
        </>
      }
      onClose={onClose}
      actions={
        <Button variant="primary" disabled={!parsed.ok || it.isBusy} onClick={send}>
          Set for the next tick
        </Button>
      }
    >
      <p className="mb-2.5 text-ink-2">
        {row.type && <code>{row.type}</code>} {row.description}
      </p>
      <label htmlFor={id}>Value, as JSON</label>
      <textarea
        id={id}
        className="w-full mt-1 py-1.5 px-2 border border-line-2 rounded-md bg-surface font-mono text-sm resize-y aria-invalid:border-err"
        rows={4}
        value={text}
        spellCheck={false}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-problem`}
        onChange={(event) => {
          setSent(false);
          setText(event.target.value);
        }}
      />
      <p id={`${id}-problem`} className="min-h-5 text-err" role="alert">
        {problem}
      </p>
    </Dialog>
  );
}

function parse(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch {
    return { ok: false };
  }
}
