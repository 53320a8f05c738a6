import { useState } from "react";
import { Chip } from "@/parts/Chip";
import { FileIcon } from "@/parts/icons";
import type { Source } from "@/stream/chunks";
import { withoutRepeats } from "@/stream/sourceLinks";

const SHOWN = 4;

/** The sources of an answer: the first ones, the others on demand. */
export function SourceChips({
  sources,
  onOpen,
}: {
  sources: readonly Source[];
  onOpen: (source: Source) => void;
}) {
  const [isWhole, setWhole] = useState(false);
  const all = withoutRepeats(sources);
  if (all.length === 0) return null;
  const shown = isWhole || all.length <= SHOWN + 1 ? all : all.slice(0, SHOWN);
  return (
    <ul
      className="flex flex-wrap gap-1.5 mt-2 list-none [&>li]:min-w-0 [&>li]:max-w-full"
      aria-label="Sources"
    >
      {shown.map((source) => (
        <li key={`${source.source_type} ${source.path} ${source.line ?? ""}`}>
          <SourceChip source={source} onOpen={onOpen} />
        </li>
      ))}
      {shown.length < all.length && (
        <li>
          <Chip
            shape="square"
            onClick={() => setWhole(true)}
            aria-label={`${all.length - SHOWN} more sources`}
          >
            + {all.length - SHOWN}
          </Chip>
        </li>
      )}
    </ul>
  );
}

function SourceChip({ source, onOpen }: { source: Source; onOpen: (source: Source) => void }) {
  if (source.source_type === "web") return <WebChip address={source.path} />;
  return (
    <Chip
      shape="square"
      className="text-ink-2! no-underline mono"
      icon={<FileIcon size={12} />}
      title={source.snippet ?? undefined}
      onClick={() => onOpen(source)}
    >
      <span className="truncate">{source.path}</span>
      {source.line != null && <span className="text-ink-3"> :{source.line}</span>}
    </Chip>
  );
}

/** An address comes from the model's search: only pages of the web are links. */
function WebChip({ address }: { address: string }) {
  const text = address.replace(/^https?:\/\//, "");
  if (!/^https?:\/\//i.test(address)) return <span className="text-ink-2! no-underline mono">{address}</span>;
  return (
    <a
      className="chip rounded-md text-ink-2! no-underline mono"
      href={address}
      target="_blank"
      rel="noopener noreferrer"
    >
      <FileIcon size={12} />
      <span className="truncate">{text}</span>
    </a>
  );
}
