import { Button } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";
import { ago } from "@/parts/format";

import type { Conflict } from "./types";

interface ConflictDialogProps {
  conflict: Conflict;
  onClose: () => void;
  /** Drop the own text for the one that is saved. */
  onTheirs: () => void;
  /** Keep the own text, as made from the one that is saved. */
  onMine: () => void;
}

/** Another user has saved the tree since: who, when, why, and what has changed. Nothing was overwritten. */
export function ConflictDialog({ conflict, onClose, onTheirs, onMine }: ConflictDialogProps) {
  const { user_id: user, at, note, difference } = conflict;
  return (
    <Dialog
      title="Another user has saved this tree"
      onClose={onClose}
      width={680}
      actions={
        <>
          <Button onClick={onClose}>Keep editing</Button>
          <Button onClick={onTheirs}>Use the saved text</Button>
          <Button variant="primary" onClick={onMine}>
            Keep mine, and compare
          </Button>
        </>
      }
    >
      <div className="grid gap-3">
        <p>
          {user ? <b>{user}</b> : "Its file"}{" "}
          {user ? "has saved another version" : "was changed by other means"}
          {at ? `, ${ago(Date.parse(at))}` : ""}. Your text is not saved, and nothing is lost.
        </p>
        {note && <blockquote className="m-0 pl-3 border-l-3 border-line-2 text-ink-2">{note}</blockquote>}
        {difference ? (
          <>
            <h3>What has changed since your version</h3>
            <pre className="max-h-75 p-3 overflow-auto rounded-md bg-surface-2 text-sm">{difference}</pre>
          </>
        ) : (
          <p>{conflict.detail}</p>
        )}
      </div>
    </Dialog>
  );
}
