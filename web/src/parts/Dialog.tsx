import { useId, useLayoutEffect, type ReactNode } from "react";
import { Button } from "./Button";
import { CloseIcon } from "./icons";
import { useModal } from "./useModal";

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
  const [modal, close] = useModal(onClose);
  const id = useId();
  useLayoutEffect(() => {
    // The browser would choose the button that closes it: what is to be typed, or the first answer, is meant.
    modal.ref.current?.querySelector<HTMLElement>(FIRST)?.focus();
  }, [modal.ref]);
  return (
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- Escape does the same
    <dialog
      {...modal}
      className="dialog max-w-[calc(100vw-24px)] max-h-[calc(100dvh-48px)] p-0 border border-line-2 rounded-lg bg-overlay text-ink shadow-overlay open:flex open:flex-col backdrop:bg-[rgb(10_10_15/40%)]"
      aria-labelledby={id}
      style={{ width }}
      onClick={(event) => {
        if (event.target === event.currentTarget) close();
      }}
    >
      <div className="flex items-center justify-between gap-3 pt-3 pr-3 pb-2 pl-4">
        <h2 id={id}>{title}</h2>
        <Button variant="ghost" size="small" icon={<CloseIcon />} aria-label="Close" onClick={close} />
      </div>
      <div className="dialog-body flex-1 min-h-0 overflow-auto pt-0 px-4 pb-4">{children}</div>
      {actions && (
        <div className="dialog-actions flex justify-end gap-2 py-3 px-4 border-t border-line">{actions}</div>
      )}
    </dialog>
  );
}
