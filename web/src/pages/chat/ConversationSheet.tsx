import { useLayoutEffect, useRef } from "react";
import { ConversationList } from "./ConversationList";

interface ConversationSheetProps {
  contextId: string | null;
  onClose: () => void;
}

/** The list of conversations on a narrow screen: over the page, from the left. */
export function ConversationSheet({ contextId, onClose }: ConversationSheetProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (dialog.current && !dialog.current.open) dialog.current.showModal();
  }, []);
  return (
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- Escape does the same
    <dialog
      ref={dialog}
      className="chat-sheet"
      aria-label="Conversations"
      onClose={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget) event.currentTarget.close();
      }}
    >
      <ConversationList contextId={contextId} onChoose={() => dialog.current?.close()} />
    </dialog>
  );
}
