import type { ReactNode } from "react";
import { CloseIcon, PaperclipIcon } from "@/parts/icons";
import type { Attachment } from "./attachments";

/** The files of the question that is being typed, each with what is wrong with it. */
export function AttachmentChips({
  files,
  onRemove,
}: {
  files: readonly Attachment[];
  onRemove: (key: number) => void;
}) {
  if (files.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-1.5 mb-2 p-0 list-none" aria-label="Attached files">
      {files.map(({ key, name, size, id, problem }) => (
        <li key={key} className="flex flex-wrap items-center gap-x-1.5 max-w-full">
          <FileName name={name}>
            <span className="flex-none text-ink-3">{(id ?? problem) ? bytes(size) : "Uploading…"}</span>
            <button
              type="button"
              className="grid flex-none place-items-center size-5 -mr-1.5 p-0 border-0 rounded-sm bg-transparent text-ink-3 hover:text-ink"
              aria-label={`Remove ${name}`}
              onClick={() => onRemove(key)}
            >
              <CloseIcon size={12} />
            </button>
          </FileName>
          {problem !== null && (
            <span className="text-err text-sm wrap-anywhere" role="alert">
              {problem}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

const bytes = (size: number): string =>
  size < 1_000_000 ? `${Math.ceil(size / 1000)} KB` : `${(size / 1_000_000).toFixed(1)} MB`;

/** The files that were asked with. */
export function AttachedNames({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <ul className="flex flex-wrap justify-end gap-1.5 p-0 list-none" aria-label="Attached files">
      {names.map((name, at) => (
        <li key={at} className="max-w-full">
          <FileName name={name} />
        </li>
      ))}
    </ul>
  );
}

function FileName({ name, children }: { name: string; children?: ReactNode }) {
  return (
    <span className="chip max-w-full rounded-md" title={name}>
      <PaperclipIcon size={13} className="flex-none" />
      <span className="truncate">{name}</span>
      {children}
    </span>
  );
}
