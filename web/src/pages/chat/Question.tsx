import { Button } from "@/parts/Button";
import { EditIcon, RetryIcon } from "@/parts/icons";
import { AttachedNames } from "./AttachmentChips";

interface QuestionProps {
  text: string;
  /** The names of the files that it was asked with. */
  files: readonly string[];
  actions: { onEdit: () => void; onAskAgain: () => void } | null;
}

/** What was asked. It can be asked again, or edited first. */
export function Question({ text, files, actions }: QuestionProps) {
  return (
    <div className="flex items-start justify-end gap-1 mb-4">
      {actions && (
        <span className="flex self-center text-ink-3 opacity-0 group-hover:opacity-100 focus-within:opacity-100 pointer-coarse:opacity-100">
          <Button
            variant="ghost"
            size="small"
            icon={<EditIcon size={14} />}
            aria-label="Edit and ask again"
            title="Edit and ask again"
            onClick={actions.onEdit}
          />
          <Button
            variant="ghost"
            size="small"
            icon={<RetryIcon size={14} />}
            aria-label="Ask again"
            title="Ask again"
            onClick={actions.onAskAgain}
          />
        </span>
      )}
      <h2 className="visually-hidden">Question</h2>
      <div className="grid justify-items-end gap-1.5 max-w-[85%]">
        <AttachedNames names={files} />
        <p className="max-w-full py-1.75 px-3.5 rounded-lg rounded-br-sm bg-surface-2 text-lg leading-read wrap-anywhere whitespace-pre-wrap">
          {text}
        </p>
      </div>
    </div>
  );
}
