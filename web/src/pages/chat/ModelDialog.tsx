import { useState } from "react";
import { Button } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";

const LONGEST_NAME = 200;

interface ModelDialogProps {
  name: string;
  onChange: (name: string) => void;
  onClose: () => void;
}

/** A model of the provider by its name, where the service lets a question name any. */
export function ModelDialog({ name, onChange, onClose }: ModelDialogProps) {
  const [text, setText] = useState(name);
  const named = text.trim();
  const use = () => {
    if (named === "") return;
    onChange(named);
    onClose();
  };
  return (
    <Dialog
      title="Another model"
      onClose={onClose}
      width={420}
      actions={
        <Button variant="primary" disabled={named === ""} onClick={use}>
          Use it
        </Button>
      }
    >
      <label className="grid gap-1 mb-2">
        Name of the model
        <input
          className="mono h-7 py-0 px-2 border border-line-2 rounded-md bg-surface"
          value={text}
          maxLength={LONGEST_NAME}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault(); // it would send the question, in whose form the dialog stands
            use();
          }}
        />
      </label>
      <p className="mt-2 text-ink-3">
        As the provider spells it. With a name that it does not know, the question fails.
      </p>
    </Dialog>
  );
}
