import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { useMe } from "@/api/queries";
import { Button } from "@/parts/Button";
import { Chip } from "@/parts/Chip";
import { ArrowUpIcon, PaperclipIcon, StopIcon, TreeIcon } from "@/parts/icons";
import { Menu, type MenuItem } from "@/parts/Menu";
import { AttachmentChips } from "./AttachmentChips";
import { ACCEPTED, type Attachments } from "./attachments";
import { LimitsDialog } from "./LimitsDialog";
import { ModelDialog } from "./ModelDialog";
import { limitsText, type OwnLimits } from "./limits";

const LONGEST_QUESTION = 20_000;

/** What a question is asked with; null is the service's own choice. */
export interface Choices {
  readonly tree: string | null;
  readonly model: string | null;
  readonly limits: OwnLimits;
}

export const NO_CHOICES: Choices = { tree: null, model: null, limits: {} };

interface ComposerProps {
  text: string;
  onText: (text: string) => void;
  choices: Choices;
  onChoices: (choices: Choices) => void;
  onSend: () => void;
  /** The files of the question; null where the service takes none. */
  attachments: Attachments | null;
  /** An answer is coming: it can be stopped, and the next question waits. */
  live: { isStopping: boolean; onStop: () => void } | null;
  /** A number that changes when the text is to be typed in. */
  focusKey: number;
}

/** Where a question is typed, and what it is asked with. */
export function Composer({
  text,
  onText,
  choices,
  onChoices,
  onSend,
  attachments,
  live,
  focusKey,
}: ComposerProps) {
  const chooser = useRef<HTMLInputElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const { data: me } = useMe();
  const invitation = me?.project === null ? "Ask a question…" : "Ask about the project…";
  // With what is drawn: later, it would take the focus from what the first key chose.
  useLayoutEffect(() => {
    if (focusKey > 0) field.current?.focus();
  }, [focusKey]);
  useEffect(() => {
    const area = field.current;
    if (!area) return;
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight}px`;
  }, [text]);
  const send = () => {
    if (live !== null || attachments?.isUploading) return;
    if (text.trim() !== "") onSend();
    else field.current?.focus();
  };
  return (
    <form
      className="pt-3 pr-2.5 pb-2 pl-3.5 border border-line-2 rounded-lg bg-surface focus-within:border-line-3"
      aria-label="Question"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {attachments && <AttachmentChips files={attachments.files} onRemove={attachments.remove} />}
      <textarea
        ref={field}
        className="block w-full max-h-[min(40vh,320px)] p-0 border-0 outline-none bg-transparent text-lg leading-5 resize-none placeholder:text-ink-3 @max-[460px]/chat:placeholder:whitespace-nowrap"
        rows={1}
        value={text}
        maxLength={LONGEST_QUESTION}
        aria-label="Question"
        placeholder={live ? "Write your next question…" : invitation}
        onChange={(event) => onText(event.target.value)}
        onDragOver={(event) => {
          if (attachments && event.dataTransfer.types.includes("Files")) event.preventDefault();
        }}
        onDrop={(event) => {
          if (!attachments || event.dataTransfer.files.length === 0) return;
          event.preventDefault();
          attachments.add([...event.dataTransfer.files]);
        }}
        onPaste={(event) => {
          if (!attachments || event.clipboardData.files.length === 0) return;
          event.preventDefault();
          attachments.add([...event.clipboardData.files]);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <div className="composer-row flex flex-wrap items-center gap-1.5 mt-2 @max-[460px]/chat:gap-1 [&>.menu]:min-w-0 [&>.button]:flex-none [&_.chip]:flex-initial [&_.chip]:min-w-0 [&_.chip]:max-w-60 @max-[460px]/chat:[&_.chip]:px-1.25">
        {attachments && (
          <>
            <input
              ref={chooser}
              type="file"
              multiple
              hidden
              accept={ACCEPTED}
              aria-label="Files to attach"
              onChange={({ target }) => {
                attachments.add([...(target.files ?? [])]);
                target.value = "";
              }}
            />
            <Button
              variant="ghost"
              size="small"
              className="@max-[460px]/chat:pointer-coarse:-ml-3.5"
              icon={<PaperclipIcon size={14} />}
              aria-label="Attach files"
              title="Attach pictures, PDF or text files"
              onClick={() => chooser.current?.click()}
            />
          </>
        )}
        <TreeChoice choices={choices} onChoices={onChoices} />
        <ModelChoice choices={choices} onChoices={onChoices} />
        <LimitsChoice choices={choices} onChoices={onChoices} isLive={live !== null} />
        {live ? (
          <Button
            variant="danger"
            className="ml-auto"
            icon={<StopIcon size={12} />}
            keys="Escape"
            disabled={live.isStopping}
            onClick={live.onStop}
          >
            {live.isStopping ? "Stopping" : "Stop"}
          </Button>
        ) : (
          <Button
            type="submit"
            variant="primary"
            className="ml-auto"
            icon={<ArrowUpIcon size={16} />}
            aria-label="Send"
          />
        )}
      </div>
    </form>
  );
}

type ChoiceProps = Pick<ComposerProps, "choices" | "onChoices">;

function TreeChoice({ choices, onChoices }: ChoiceProps) {
  const { data: me } = useMe();
  if (!me) return null;
  const chosen = choices.tree ?? me.tree;
  const items = me.trees.map(({ name, description }): MenuItem => ({
    label: name,
    detail: description || undefined,
    checked: name === chosen,
    onSelect: () => onChoices({ ...choices, tree: name === me.tree ? null : name }),
  }));
  return (
    <ChoiceMenu label={`Tree: ${chosen}`} items={items} icon={<TreeIcon size={13} />}>
      {chosen}
    </ChoiceMenu>
  );
}

function ModelChoice({ choices, onChoices }: ChoiceProps) {
  const { data: me } = useMe();
  const [isNaming, setNaming] = useState(false);
  if (!me) return null;
  const chosen = choices.model ?? me.model;
  const choose = (name: string) => onChoices({ ...choices, model: name === me.model ? null : name });
  const names = me.models.includes(chosen) ? me.models : [...me.models, chosen];
  const items = names.map((name): MenuItem => ({
    label: name,
    checked: name === chosen,
    onSelect: () => choose(name),
  }));
  if (me.any_model) items.push({ label: "Another model…", onSelect: () => setNaming(true) });
  return (
    <>
      <ChoiceMenu label={`Model: ${chosen}`} items={items}>
        {chosen}
      </ChoiceMenu>
      {isNaming && (
        <ModelDialog name={choices.model ?? ""} onChange={choose} onClose={() => setNaming(false)} />
      )}
    </>
  );
}

interface ChoiceMenuProps {
  label: string;
  items: readonly MenuItem[];
  icon?: ReactNode;
  children: string;
}

/** A chip that opens a menu; without a choice it only says what is used. */
function ChoiceMenu({ label, items, icon, children }: ChoiceMenuProps) {
  if (items.length < 2) {
    return (
      <span className="chip rounded-md" title={label}>
        {icon}
        {children}
      </span>
    );
  }
  return (
    <Menu
      label={label}
      side="above"
      items={items}
      button={(props) => (
        <Chip {...props} shape="square" icon={icon} aria-label={label}>
          <span className="truncate">{children}</span>
        </Chip>
      )}
    />
  );
}

function LimitsChoice({ choices, onChoices, isLive }: ChoiceProps & { isLive: boolean }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Chip
        shape="square"
        className={isLive ? "@max-[460px]/chat:hidden!" : ""}
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
      >
        <span className="truncate">
          Limits
          <span className="@max-[460px]/chat:hidden">: {limitsText(choices.limits) || "as in settings"}</span>
        </span>
      </Chip>
      {isOpen && (
        <LimitsDialog
          limits={choices.limits}
          onChange={(limits) => onChoices({ ...choices, limits })}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
