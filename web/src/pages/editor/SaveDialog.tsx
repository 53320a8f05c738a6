import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { Button } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";
import { plural } from "@/parts/format";
import { Problem } from "@/parts/Problem";

import { trials } from "./calls";
import { scenarioCounts } from "./panes/scenarioCounts";
import type { ChangeCounts } from "./source/changes";

interface SaveDialogProps {
  name: string;
  text: string;
  counts: ChangeCounts;
  usedBy: readonly string[];
  onClose: () => void;
  onSave: (note: string | null) => void;
}

/** Asks for a note, and says what is known of the text. Return saves. */
export function SaveDialog({ name, text, counts, usedBy, onClose, onSave }: SaveDialogProps) {
  const [note, setNote] = useState("");
  const { data: played } = useQuery({ ...trials.test(name, text), enabled: false }); // if it was played already
  const scenarios = played && scenarioCounts(played.result.files);
  const isFailing = scenarios !== undefined && scenarios.passed < scenarios.all;
  const form = "save-tree";
  return (
    <Dialog
      title={`Save ${name} for the next questions`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={form}>
            Save
          </Button>
        </>
      }
    >
      <form
        id={form}
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          onSave(note.trim() || null);
        }}
      >
        <p>
          {plural(counts.added, "line")} added, {counts.removed} removed. Runs in progress finish on their own
          version.
          {usedBy.length > 0 && <> It is also used by {usedBy.join(", ")}.</>}
        </p>
        {isFailing && (
          <Problem
            tone="warn"
            title={`${plural(scenarios.all - scenarios.passed, "scenario")} of ${scenarios.all} fail.`}
          >
            You can save it anyway.
          </Problem>
        )}
        <label className="grid gap-1 font-medium">
          Note
          <input
            // eslint-disable-next-line jsx-a11y/no-autofocus -- the dialog was opened to write it
            autoFocus
            className="h-8 py-0 px-2 border border-line-2 rounded-md bg-surface font-regular"
            value={note}
            maxLength={2000}
            placeholder="Why (kept with the version)"
            onChange={(event) => setNote(event.target.value)}
          />
        </label>
      </form>
    </Dialog>
  );
}
