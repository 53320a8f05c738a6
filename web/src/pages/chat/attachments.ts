/** The files of the question that is being typed: each is uploaded at once, and the question names it. */
import { useRef, useState } from "react";
import { api, unwrap } from "@/api/client";
import type { AttachedFile } from "@/stream/answerStream";

export const MOST_FILES = 10;

/** What the file dialog offers; the service decides by the content. */
export const ACCEPTED =
  "image/png,image/jpeg,image/gif,image/webp,application/pdf,text/*,.md,.csv,.json,.log,.yaml";

/** A file beside the composer: `id` is null until it is uploaded, and stays null where there is a problem. */
export interface Attachment {
  readonly key: number;
  readonly name: string;
  readonly size: number;
  readonly id: string | null;
  readonly problem: string | null;
}

export interface Attachments {
  readonly files: readonly Attachment[];
  readonly isUploading: boolean;
  readonly add: (files: readonly File[]) => void;
  readonly remove: (key: number) => void;
  /** Those that are uploaded, for a question; none are left. */
  readonly take: () => readonly Attachment[];
  /** Those of a question that was refused. */
  readonly restore: (files: readonly Attachment[]) => void;
}

export function useAttachments(): Attachments {
  const [files, setFiles] = useState<readonly Attachment[]>([]);
  const last = useRef(0);
  const change = (key: number, change: Partial<Attachment>) =>
    setFiles((before) => before.map((each) => (each.key === key ? { ...each, ...change } : each)));
  const upload = async (key: number, file: File) => {
    try {
      const params = { query: { name: file.name.slice(0, 200) || "file" } };
      // openapi-fetch types a binary body as text.
      const body = file as unknown as string;
      const kept = await unwrap(api.POST("/api/attachments", { params, body, bodySerializer: () => file }));
      change(key, { id: kept.id, name: kept.name });
    } catch (error) {
      change(key, { problem: error instanceof Error ? error.message : String(error) });
    }
  };
  return {
    files,
    isUploading: files.some((each) => each.id === null && each.problem === null),
    add: (added) => {
      const room = MOST_FILES - files.length;
      const entries = added.map((file, at): Attachment => ({
        key: (last.current += 1),
        name: file.name || "picture",
        size: file.size,
        id: null,
        problem: at < room ? null : `A question has at most ${MOST_FILES} files.`,
      }));
      setFiles((before) => [...before, ...entries]);
      entries.forEach((entry, at) => {
        const file = added[at];
        if (file && entry.problem === null) void upload(entry.key, file);
      });
    },
    remove: (key) => {
      const id = files.find((each) => each.key === key)?.id;
      setFiles((before) => before.filter((each) => each.key !== key));
      if (id)
        void api.DELETE("/api/attachments/{attachment_id}", { params: { path: { attachment_id: id } } });
    },
    take: () => {
      setFiles([]);
      return files.filter((each) => each.id !== null);
    },
    restore: (taken) => setFiles((before) => [...taken, ...before]),
  };
}

/** What the question says of its files. */
export const namedIn = (files: readonly Attachment[]): readonly AttachedFile[] =>
  files.flatMap(({ id, name }) => (id === null ? [] : [{ id, name }]));
