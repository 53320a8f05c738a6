import { useId, useLayoutEffect, useRef, type ReactNode } from "react";
import { Button } from "./Button";
import { CloseIcon } from "./icons";
import "./Dialog.css";

interface DialogProps {
  title: ReactNode;
  onClose: () => void;
  children: ReactNode;
  /** Buttons at its foot. */
  actions?: ReactNode;
  width?: number;
}

const FIRST = ".dialog-body :is(input, textarea, select), .dialog-actions :is(button, a)";

/** A modal dialog: the browser's own, so that focus, Escape and what lies below are its work. */
export function Dialog({ title, onClose, children, actions, width = 480 }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = ref.current;
    if (!dialog || dialog.open) return;
    dialog.showModal();
    // The browser would choose the button that closes it: what is to be typed, or the first answer, is meant.
    dialog.querySelector<HTMLElement>(FIRST)?.focus();
  }, []);
  return (
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- Escape does the same
    <dialog
      ref={ref}
      className="dialog"
      aria-labelledby={id}
      style={{ width }}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget) event.currentTarget.close();
      }}
    >
      <div className="flex items-center justify-between gap-3 pt-3 pr-3 pb-2 pl-4">
        <h2 id={id}>{title}</h2>
        <Button
          variant="ghost"
          size="small"
          icon={<CloseIcon />}
          aria-label="Close"
          onClick={() => ref.current?.close()}
        />
      </div>
      <div className="dialog-body flex-1 min-h-0 overflow-auto pt-0 px-4 pb-4">{children}</div>
      {actions && (
        <div className="dialog-actions flex justify-end gap-2 py-3 px-4 border-t border-line">{actions}</div>
      )}
    </dialog>
  );
}
