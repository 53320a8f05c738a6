import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { ApiError } from "@/api/client";
import { Dialog } from "@/parts/Dialog";
import { number } from "@/parts/format";
import { Problem } from "@/parts/Problem";
import { Skeleton } from "@/parts/Skeleton";
import type { Source } from "@/stream/chunks";
import { sourceQuery } from "./queries";

interface SourceDialogProps {
  runId: string;
  source: Source;
  onClose: () => void;
}

/** A cited text at its line, as the file is now. */
export function SourceDialog({ runId, source, onClose }: SourceDialogProps) {
  const { data, error, isPending } = useQuery(sourceQuery(runId, source));
  return (
    <Dialog title={<span className="mono wrap-anywhere">{source.path}</span>} onClose={onClose} width={860}>
      {isPending && <Skeleton label="Loading the source" />}
      {error && <Missing error={error} snippet={source.snippet ?? null} />}
      {data && (
        <SourceLines first={data.first_line} lines={data.lines} total={data.total_lines} cited={data.line} />
      )}
    </Dialog>
  );
}

const BOX = "max-h-[62vh] overflow-auto border border-line rounded-md bg-surface text-sm leading-5";

function Missing({ error, snippet }: { error: Error; snippet: string | null }) {
  const isGone = error instanceof ApiError && error.status === 404;
  return (
    <>
      <Problem tone="warn" title={isGone ? "This text can no longer be read." : error.message}>
        {isGone && "It may have been moved or deleted."}
      </Problem>
      {snippet !== null && (
        <>
          <p className="mt-2 mb-1 text-ink-3 text-sm">The line that was cited:</p>
          <pre className={`${BOX} py-2 px-3 wrap-anywhere whitespace-pre-wrap`}>{snippet}</pre>
        </>
      )}
    </>
  );
}

interface SourceLinesProps {
  first: number;
  lines: readonly string[];
  total: number;
  cited: number | null;
}

function SourceLines({ first, lines, total, cited }: SourceLinesProps) {
  const citedLine = useRef<HTMLLIElement>(null);
  useEffect(() => {
    citedLine.current?.scrollIntoView({ block: "center" });
  }, []);
  const last = first + lines.length - 1;
  return (
    <>
      <ol
        className={`${BOX} py-1.5 list-none font-mono`}
        start={first}
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label="Lines of the source"
      >
        {lines.map((line, at) => {
          const n = first + at;
          return (
            <li
              key={n}
              ref={n === cited ? citedLine : undefined}
              className={`flex whitespace-pre ${n === cited ? "bg-warn-soft shadow-[inset_3px_0_var(--warn-fill)]" : ""}`}
              aria-current={n === cited ? "location" : undefined}
            >
              <span className="flex-none w-13 pr-3 text-ink-3 text-right select-none" aria-hidden="true">
                {n}
              </span>
              <code className="[font-size:inherit]">{line || " "}</code>
            </li>
          );
        })}
      </ol>
      <p className="mt-2 mb-1 text-ink-3 text-sm">
        Lines {number(first)}–{number(last)} of {number(total)}, as the file is now.
      </p>
    </>
  );
}
