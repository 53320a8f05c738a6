/** The search of a run: lines and nodes of the source, then keys and values of the blackboard. */
import { useState, type KeyboardEvent, type Ref } from "react";
import { Button } from "@/parts/Button";
import { CloseIcon, SearchIcon } from "@/parts/icons";

export type Found = "line" | "value" | "nothing";

interface RunSearchProps {
  words: string;
  onWords: (words: string) => void;
  onFind: (step: 1 | -1) => Found;
  onClose: () => void;
  ref: Ref<HTMLInputElement>;
}

const SAID: Readonly<Record<Found, string>> = {
  line: "",
  value: "on the blackboard",
  nothing: "nothing found",
};

export function RunSearch({ words, onWords, onFind, onClose, ref }: RunSearchProps) {
  const [found, setFound] = useState<Found | null>(null);
  const press = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.key === "Enter" && words.trim()) setFound(onFind(event.shiftKey ? -1 : 1));
    else if (event.key === "Escape") onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      className="flex flex-none items-center gap-2 h-9 pr-2 pl-3 border-b border-line bg-surface text-ink-3"
      role="search"
    >
      <SearchIcon size={14} />
      <input
        ref={ref}
        className="flex-1 min-w-0 py-0.5 px-0 border-0 bg-transparent text-ink outline-none"
        type="text"
        aria-label="Search lines, nodes and values"
        placeholder="Line, node or value…"
        value={words}
        spellCheck={false}
        // eslint-disable-next-line jsx-a11y/no-autofocus -- it is opened in order to be typed into
        autoFocus
        onChange={(event) => {
          setFound(null);
          onWords(event.target.value);
        }}
        onKeyDown={press}
      />
      <span className="text-sm" role="status">
        {found ? SAID[found] : ""}
      </span>
      <Button
        variant="ghost"
        size="small"
        icon={<CloseIcon />}
        aria-label="Close the search"
        onClick={onClose}
      />
    </div>
  );
}
