/**
 * A growing Markdown text as blocks, so that a frame parses only the end of it anew.
 *
 * What comes later can still change the last block (it grows) and the one before it (a paragraph becomes a heading by the
 * line below, a list goes on after a blank line). Those before are settled, and are never parsed again.
 */
import { Lexer } from "marked";
import { isTame } from "./tame";

export interface MarkdownBlocks {
  readonly text: string;
  /** Blocks that stay as they are. */
  readonly settled: readonly string[];
  /** The characters of the settled blocks. */
  readonly settledLength: number;
  /** The last blocks, which may still change. */
  readonly open: string;
}

export const NO_BLOCKS: MarkdownBlocks = { text: "", settled: [], settledLength: 0, open: "" };

const OPEN_BLOCKS = 2;

/** The blocks of a text that begins with the text of `before`. Of another text they are made anew. */
export function growBlocks(before: MarkdownBlocks, text: string): MarkdownBlocks {
  if (text === before.text) return before;
  const base = text.startsWith(before.text) ? before : NO_BLOCKS;
  const tail = text.slice(base.settledLength);
  const raws = rawBlocks(tail);
  const settled = raws.slice(0, Math.max(0, raws.length - OPEN_BLOCKS));
  const length = settled.reduce((sum, raw) => sum + raw.length, 0);
  return {
    text,
    settled: settled.length > 0 ? [...base.settled, ...settled] : base.settled,
    settledLength: base.settledLength + length,
    open: tail.slice(length),
  };
}

/** The source text of each block with the blank lines after it, of the first also with those before. They add up to the text. */
function rawBlocks(text: string): string[] {
  if (!isTame(text)) return [text];
  const raws: string[] = [];
  let before = "";
  for (const { type, raw } of new Lexer({ gfm: true }).blockTokens(text)) {
    if (type !== "space") {
      raws.push(before + raw);
      before = "";
    } else if (raws.length > 0) raws.push((raws.pop() ?? "") + raw);
    else before = raw;
  }
  if (before) raws.push(before);
  // The lexer writes tabs and line ends in its own way; where it does, the text is one block.
  return raws.join("") === text ? raws : [text];
}
