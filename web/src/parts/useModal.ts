import { useLayoutEffect, useRef, type RefObject, type SyntheticEvent } from "react";

interface ModalProps {
  ref: RefObject<HTMLDialogElement | null>;
  onCancel: (event: SyntheticEvent) => void;
  onClose: (event: SyntheticEvent) => void;
}

/**
 * A `<dialog>` that is open as long as it is there: what it needs, and what closes it.
 *
 * The browser tells of an end only with its next frame. Until then the dialog would be closed but still there, its field would
 * have the focus, and keys that are pressed meanwhile would be lost: so its end is reported at once, with Escape too (`cancel`).
 */
export function useModal(onClose: () => void): [props: ModalProps, close: () => void] {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (ref.current && !ref.current.open) ref.current.showModal();
  }, []);
  const close = () => {
    ref.current?.close(); // gives the focus back
    onClose();
  };
  return [
    {
      ref,
      // React has these events bubble: one of a dialog within this one, or of a field for files, is not meant.
      onCancel: (event) => {
        if (event.target === event.currentTarget) close();
      },
      onClose: (event) => {
        if (event.target === event.currentTarget) onClose();
      },
    },
    close,
  ];
}
