import { useState } from "react";
import { Button } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";
import { Mark } from "@/parts/Mark";
import { clock, plural } from "@/parts/format";
import type { EditorState, LimitsEditor } from "./editor";

interface SaveBarProps {
  state: EditorState;
  editor: LimitsEditor;
}

const BAR =
  "flex flex-none items-center justify-between gap-x-3 gap-y-1 min-h-12 py-1 px-5 border-t border-line bg-surface";
const NARROW_BAR = "max-narrow:flex-wrap max-narrow:py-1.5 max-narrow:px-3";

/** Says what is saved; a change needs no button. */
export function SaveBar({ state, editor }: SaveBarProps) {
  const [isAsking, setAsking] = useState(false);
  const { drafts, note, before } = state;
  const wrong = Object.values(drafts).filter((draft) => draft.problem).length;
  return (
    <div className={`save-bar ${BAR} ${NARROW_BAR}`}>
      <p className="flex flex-wrap items-center gap-x-2 text-ink-3" role="status">
        <Says wrong={wrong} note={note} />
      </p>
      <span className="flex flex-none gap-2 max-narrow:ml-auto">
        {before !== null && note.state === "saved" && <Button onClick={() => editor.undo()}>Undo</Button>}
        {(wrong > 0 || note.state === "unsaved") && <Button onClick={() => editor.discard()}>Discard</Button>}
        <Button variant="ghost" onClick={() => setAsking(true)}>
          Reset all…
        </Button>
      </span>
      {isAsking && (
        <Dialog
          title="Reset all limits to their defaults?"
          width={400}
          onClose={() => setAsking(false)}
          actions={
            <>
              <Button onClick={() => setAsking(false)}>Keep them</Button>
              <Button
                variant="primary"
                onClick={() => {
                  setAsking(false);
                  editor.resetAll();
                }}
              >
                Reset all
              </Button>
            </>
          }
        >
          Your own limits are removed. You can undo this until the next change.
        </Dialog>
      )}
    </div>
  );
}

function Says({ wrong, note }: { wrong: number; note: EditorState["note"] }) {
  if (wrong > 0)
    return (
      <>
        <Mark kind="error" size={14} label={null} />
        <strong className="text-ink font-strong">
          {plural(wrong, "field needs a change.", "fields need a change.")}
        </strong>{" "}
        <span>{wrong === 1 ? "It is" : "They are"} not saved; everything else is.</span>
      </>
    );
  switch (note.state) {
    case "none":
      return <span>Changes are saved as you make them.</span>;
    case "saving":
      return <span>Saving…</span>;
    case "unsaved":
      return (
        <>
          <Mark kind="warning" size={14} label={null} />
          <strong className="text-ink font-strong">Not saved.</strong> <span>{note.text}</span>
        </>
      );
    case "saved":
      return (
        <>
          <Mark kind="success" size={14} label={null} />
          <strong className="text-ink font-strong">Saved.</strong>{" "}
          <span>
            {note.text} <span className="max-narrow:hidden">{clock(note.atMs)}</span>
          </span>
        </>
      );
  }
}
