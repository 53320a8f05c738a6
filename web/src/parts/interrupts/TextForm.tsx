import { useId, useState } from "react";
import { Button } from "@/parts/Button";

export const BUTTONS = "flex flex-wrap items-center gap-2 mt-2.5";
export const PROBLEM = "text-err text-sm not-empty:mt-1";
export const LABEL = "text-ink-2 text-sm";
export const INPUT =
  "block w-full min-h-7 mt-0.5 py-1 px-2 border border-line-2 rounded-md bg-surface resize-y";

interface TextFormProps {
  label: string;
  /** What the button says. */
  action: string;
  first?: string;
  isCode?: boolean;
  isBusy: boolean;
  /** What is wrong with a text; null if nothing is. */
  problemOf?: (text: string) => string | null;
  onSend: (text: string) => Promise<unknown>;
  /** Gives it up; left out where there is nothing to go back to. */
  onClose?: () => void;
}

/** A text that is typed and sent: with its button, or with Ctrl or ⌘ and Enter. Escape gives it up. */
export function TextForm(props: TextFormProps) {
  const { label, action, first = "", isCode = false, isBusy, problemOf, onSend, onClose } = props;
  const [text, setText] = useState(first);
  const id = useId();
  const problem = problemOf?.(text) ?? null;
  const canSend = problem === null && !isBusy;
  return (
    <form
      className="mt-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (canSend) void onSend(text);
      }}
    >
      <label htmlFor={id} className={LABEL}>
        {label}
      </label>
      <textarea
        id={id}
        className={`${INPUT} aria-invalid:border-err-fill ${isCode ? "mono text-sm" : ""}`}
        rows={isCode ? 6 : 2}
        value={text}
        spellCheck={!isCode}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-problem`}
        // eslint-disable-next-line jsx-a11y/no-autofocus -- the person has just asked to type here
        autoFocus={onClose !== undefined}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape" && onClose) {
            event.preventDefault(); // Escape would stop the answer
            onClose();
          } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.currentTarget.form?.requestSubmit();
          }
        }}
      />
      <p id={`${id}-problem`} className={PROBLEM} role="alert">
        {problem}
      </p>
      <div className={BUTTONS}>
        <Button type="submit" variant="primary" disabled={!canSend}>
          {action}
        </Button>
        {onClose && (
          <Button variant="ghost" onClick={onClose}>
            Back
          </Button>
        )}
      </div>
    </form>
  );
}
