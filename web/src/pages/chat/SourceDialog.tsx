import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { ApiError } from "@/api/client";
import { Dialog } from "@/parts/Dialog";
import { number } from "@/parts/format";
import { Problem } from "@/parts/Problem";
import { Skeleton } from "@/parts/Skeleton";
import type { Source } from "@/stream/chunks";
import { sourceQuery } from "./queries";
import "./SourceDialog.css";

interface SourceDialogProps {
  runId: string;
  source: Source;
  onClose: () => void;
}

/** A cited text at its line, as the file is now. */
export function SourceDialog({ runId, source, onClose }: SourceDialogProps) {
  const { data, error, isPending } = useQuery(sourceQuery(runId, source));
  return (
    <Dialog title={<span className="mono source-title">{source.path}</span>} onClose={onClose} width={860}>
      {isPending && <Skeleton label="Loading the source" />}
      {error && <Missing error={error} snippet={source.snippet ?? null} />}
      {data && (
        <SourceLines first={data.first_line} lines={data.lines} total={data.total_lines} cited={data.line} />
      )}
    </Dialog>
  );
}

function Missing({ error, snippet }: { error: Error; snippet: string | null }) {
  const isGone = error instanceof ApiError && error.status === 404;
  return (
    <>
      <Problem tone="warn" title={isGone ? "This text cannot be read any more." : error.message}>
        {isGone && "It may have been moved or deleted."}
      </Problem>
      {snippet !== null && (
        <>
          <p className="source-cited">The line that was cited:</p>
          <pre className="source-lines">{snippet}</pre>
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
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reachable by keyboard */}
      <ol className="source-lines mono" start={first} tabIndex={0} aria-label="Lines of the source">
        {lines.map((line, at) => {
          const n = first + at;
          return (
            <li
              key={n}
              ref={n === cited ? citedLine : undefined}
              className={n === cited ? "source-line-cited" : undefined}
              aria-current={n === cited ? "location" : undefined}
            >
              <span className="source-number" aria-hidden="true">
                {n}
              </span>
              <code>{line || " "}</code>
            </li>
          );
        })}
      </ol>
      <p className="source-cited">
        Lines {number(first)}–{number(last)} of {number(total)}, as the file is now.
      </p>
    </>
  );
}
