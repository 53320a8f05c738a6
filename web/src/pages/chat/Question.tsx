import { Button } from "@/parts/Button";
import { EditIcon, RetryIcon } from "@/parts/icons";

interface QuestionProps {
  text: string;
  actions: { onEdit: () => void; onAskAgain: () => void } | null;
}

/** What was asked. It can be asked again, or edited first. */
export function Question({ text, actions }: QuestionProps) {
  return (
    <div className="chat-question">
      {actions && (
        <span className="chat-question-actions">
          <Button
            variant="ghost"
            size="small"
            icon={<EditIcon size={14} />}
            aria-label="Edit and ask anew"
            title="Edit and ask anew"
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
      <p>{text}</p>
    </div>
  );
}
