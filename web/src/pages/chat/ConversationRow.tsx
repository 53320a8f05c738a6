import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { api, unwrap } from "@/api/client";
import { usePending } from "@/api/people";
import { queryClient } from "@/api/queries";
import { Button } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";
import { MoreIcon } from "@/parts/icons";
import { Mark } from "@/parts/Mark";
import { Menu } from "@/parts/Menu";
import { toast } from "@/parts/Toast";
import { liveAnswers } from "@/stream/useAnswer";
import { Dots } from "./Dots";
import { type ConversationHead, refreshConversation } from "./queries";

interface ConversationRowProps {
  conversation: ConversationHead;
  isOpen: boolean;
  onChoose?: (() => void) | undefined;
}

/** A conversation in the list; its menu renames and deletes it. */
export function ConversationRow({ conversation, isOpen, onChoose }: ConversationRowProps) {
  const [mode, setMode] = useState<"shown" | "renaming" | "deleting">("shown");
  const { context_id: contextId, title, state } = conversation;
  const isWaiting = usePending().data?.pending.some((each) => each.context_id === contextId) ?? false;
  if (mode === "renaming") {
    return (
      <li>
        <TitleField contextId={contextId} title={title} onClose={() => setMode("shown")} />
      </li>
    );
  }
  return (
    <li className="conversation-row group relative [&>.menu]:absolute [&>.menu]:top-1 [&>.menu]:right-1 pointer-coarse:[&>.menu]:top-0 pointer-coarse:[&>.menu]:right-0">
      <Link
        href={`/chat/${contextId}`}
        className={`flex items-center gap-2 h-8 px-2 rounded-md no-underline pointer-coarse:h-11 pointer-coarse:pr-11 ${isOpen ? "bg-sel text-ink font-medium" : "text-ink-2 group-hover:bg-surface-2 group-focus-within:bg-surface-2"}`}
        aria-current={isOpen ? "page" : undefined}
        title={title}
        onClick={onChoose}
      >
        <span className="flex-1 truncate">{title}</span>
        {isWaiting ? (
          <Mark kind="info" label="waiting for a person" />
        ) : (
          state === "answering" && <Dots label="answering" />
        )}
      </Link>
      <Menu
        label={`Actions for ${title}`}
        align="end"
        items={[
          { label: "Rename", onSelect: () => setMode("renaming") },
          { label: "Delete…", tone: "danger", onSelect: () => setMode("deleting") },
        ]}
        button={(props) => (
          <Button
            {...props}
            variant="ghost"
            size="small"
            icon={<MoreIcon size={14} />}
            aria-label={`Actions for ${title}`}
            className="bg-surface-3! opacity-0 group-hover:opacity-100 aria-expanded:opacity-100 focus-visible:opacity-100 pointer-coarse:bg-transparent! pointer-coarse:opacity-100"
          />
        )}
      />
      {mode === "deleting" && (
        <DeleteDialog contextId={contextId} title={title} isOpen={isOpen} onClose={() => setMode("shown")} />
      )}
    </li>
  );
}

function TitleField({
  contextId,
  title,
  onClose,
}: {
  contextId: string;
  title: string;
  onClose: () => void;
}) {
  const [text, setText] = useState(title);
  const isOver = useRef(false);
  const rename = useMutation({
    mutationFn: (next: string) =>
      unwrap(
        api.PATCH("/api/oracle/conversations/{context_id}", {
          params: { path: { context_id: contextId } },
          body: { title: next },
        }),
      ),
    onError: (error) => toast(error.message),
    onSettled: () => refreshConversation(contextId).finally(onClose),
  });
  const end = (next: string | null) => {
    if (isOver.current) return;
    isOver.current = true; // a field that goes away loses the focus, which would save what Escape has given up
    const trimmed = next?.trim() ?? "";
    if (trimmed && trimmed !== title) rename.mutate(trimmed);
    else onClose();
  };
  return (
    <input
      className="relative z-1 w-full h-8 px-1.75 border border-line-2 rounded-md bg-surface"
      aria-label="Title"
      value={text}
      maxLength={200}
      // eslint-disable-next-line jsx-a11y/no-autofocus -- the user has just asked to type here
      autoFocus
      onFocus={(event) => event.target.select()}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => end(text)}
      onKeyDown={(event) => {
        if (event.key === "Enter") end(text);
        else if (event.key === "Escape") end(null);
        else return;
        event.stopPropagation();
      }}
    />
  );
}

interface DeleteDialogProps {
  contextId: string;
  title: string;
  isOpen: boolean;
  onClose: () => void;
}

function DeleteDialog({ contextId, title, isOpen, onClose }: DeleteDialogProps) {
  const [, navigate] = useLocation();
  const forget = useMutation({
    mutationFn: () =>
      unwrap(
        api.DELETE("/api/oracle/conversations/{context_id}", { params: { path: { context_id: contextId } } }),
      ),
    onSuccess: () => {
      const live = liveAnswers.of(contextId);
      if (live) liveAnswers.drop(live);
      if (isOpen) navigate("/");
      onClose();
      queryClient.removeQueries({ queryKey: ["conversation", contextId] });
      void refreshConversation(contextId);
    },
  });
  return (
    <Dialog
      title="Delete this conversation?"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button variant="danger" disabled={forget.isPending} onClick={() => forget.mutate()}>
            Delete
          </Button>
        </>
      }
    >
      <p>
        <strong>{title}</strong>
      </p>
      <p className="mt-2 text-ink-3">
        This deletes its questions, its answers and all texts of its runs. An answer in progress is stopped.
        The figures of the runs stay.
      </p>
      {forget.error && <p role="alert">{forget.error.message}</p>}
    </Dialog>
  );
}
