import { useModal } from "@/parts/useModal";
import { ConversationList } from "./ConversationList";

interface ConversationSheetProps {
  contextId: string | null;
  onClose: () => void;
}

/** The list of conversations on a narrow screen: over the page, from the left. */
export function ConversationSheet({ contextId, onClose }: ConversationSheetProps) {
  const [modal, close] = useModal(onClose);
  return (
    // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- Escape does the same
    <dialog
      {...modal}
      className="w-[min(320px,calc(100vw_-_48px))] max-w-none h-dvh max-h-none m-0 p-0 border-0 border-r border-line bg-surface text-ink shadow-overlay backdrop:bg-[rgb(10_10_15_/_40%)]"
      aria-label="Conversations"
      onClick={(event) => {
        if (event.target === event.currentTarget) close();
      }}
    >
      <ConversationList contextId={contextId} onChoose={close} />
    </dialog>
  );
}
