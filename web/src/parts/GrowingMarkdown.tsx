import { useMemo, useState } from "react";
import { Markdown } from "./Markdown";
import { growBlocks, NO_BLOCKS } from "./markdownBlocks";
import "./GrowingMarkdown.css";

interface GrowingMarkdownProps {
  text: string;
  isPlace?: ((code: string) => boolean) | undefined;
  onPlace?: ((code: string) => void) | undefined;
  /** More is coming. */
  hasCaret: boolean;
}

/** Markdown that grows: what is settled is neither parsed nor drawn again. */
export function GrowingMarkdown({ text, isPlace, onPlace, hasCaret }: GrowingMarkdownProps) {
  const [blocks, setBlocks] = useState(NO_BLOCKS);
  const grown = useMemo(() => growBlocks(blocks, text), [blocks, text]);
  if (grown !== blocks) setBlocks(grown); // kept for the next frame
  return (
    <div className={`growing-markdown${hasCaret ? " growing-markdown-caret" : ""}`}>
      {grown.settled.map((block, at) => (
        <Markdown key={at} {...block} isPlace={isPlace} onPlace={onPlace} />
      ))}
      <Markdown {...grown.open} isPlace={isPlace} onPlace={onPlace} />
    </div>
  );
}
