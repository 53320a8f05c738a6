/**
 * A growing Markdown text as blocks, so that a frame parses only the end of it anew.
 *
 * What comes later can still change the last block (it grows) and the one before it (a paragraph becomes a heading by the
 * line below, a list goes on after a blank line). Those before are settled, and are parsed again only if a link is
 * defined that they refer to.
 */
import { Lexer, type Links } from "marked";
import { isTame } from "./tame";

/** Where references lead, by label as marked writes it. */
export type MarkdownLinks = ReadonlyMap<string, Links[string]>;

export interface MarkdownBlock {
  readonly text: string;
  /** Of the definitions of the whole text those that this block refers to. */
  readonly links: MarkdownLinks;
}

export interface MarkdownBlocks {
  readonly text: string;
  /** Blocks that stay as they are. */
  readonly settled: readonly MarkdownBlock[];
  /** The characters of the settled blocks. */
  readonly settledLength: number;
  /** What the settled blocks define. */
  readonly settledLinks: MarkdownLinks;
  /** The last blocks, which may still change. */
  readonly open: MarkdownBlock;
}

export const NO_LINKS: MarkdownLinks = new Map();

export const NO_BLOCKS: MarkdownBlocks = {
  text: "",
  settled: [],
  settledLength: 0,
  settledLinks: NO_LINKS,
  open: { text: "", links: NO_LINKS },
};

const OPEN_BLOCKS = 2;

/** The blocks of a text that begins with the text of `before`. Of another text they are made anew. */
export function growBlocks(before: MarkdownBlocks, text: string): MarkdownBlocks {
  if (text === before.text) return before;
  const base = text.startsWith(before.text) ? before : NO_BLOCKS;
  const tail = text.slice(base.settledLength);
  const { raws, links: tailLinks } = rawBlocks(tail);
  const settled = raws.slice(0, Math.max(0, raws.length - OPEN_BLOCKS));
  const length = settled.reduce((sum, raw) => sum + raw.length, 0);
  // The first definition of a label counts.
  const settledLinks =
    length > 0 && tailLinks.size > 0
      ? new Map([...rawBlocks(tail.slice(0, length)).links, ...base.settledLinks])
      : base.settledLinks;
  const links = tailLinks.size > 0 ? new Map([...tailLinks, ...settledLinks]) : settledLinks;
  const fresh = settled.map((raw) => linked({ text: raw, links: NO_LINKS }, links));
  return {
    text,
    settled: fresh.length > 0 ? [...relinked(base.settled, links), ...fresh] : relinked(base.settled, links),
    settledLength: base.settledLength + length,
    settledLinks,
    open: linked({ text: tail.slice(length), links: NO_LINKS }, links),
  };
}

/** The blocks with these links; the same objects, where nothing is different. */
function relinked(blocks: readonly MarkdownBlock[], links: MarkdownLinks): readonly MarkdownBlock[] {
  if (links.size === 0) return blocks;
  const now = blocks.map((block) => linked(block, links));
  return now.some((block, at) => block !== blocks[at]) ? now : blocks;
}

function linked(block: MarkdownBlock, links: MarkdownLinks): MarkdownBlock {
  if (links.size === 0) return block;
  const used = new Map<string, Links[string]>();
  for (const [, name = ""] of block.text.matchAll(/\[([^[\]]+)\]/g)) {
    const label = name.trim().replace(/\s+/g, " ").toLowerCase().toUpperCase().toLowerCase(); // as marked folds case
    const link = links.get(label);
    if (link !== undefined) used.set(label, link);
  }
  return areSame(used, block.links) ? block : { ...block, links: used };
}

function areSame(some: MarkdownLinks, others: MarkdownLinks): boolean {
  if (some.size !== others.size) return false;
  return [...some].every(([label, { href, title }]) => {
    const other = others.get(label);
    return other?.href === href && other.title === title;
  });
}

/**
 * The source text of each block with the blank lines after it, of the first also with those before, and what they define.
 * The texts add up to the whole.
 */
function rawBlocks(text: string): { raws: string[]; links: MarkdownLinks } {
  if (!isTame(text)) return { raws: [text], links: NO_LINKS };
  const raws: string[] = [];
  let before = "";
  const lexer = new Lexer({ gfm: true });
  for (const { type, raw } of lexer.blockTokens(text)) {
    if (type !== "space") {
      raws.push(before + raw);
      before = "";
    } else if (raws.length > 0) raws.push((raws.pop() ?? "") + raw);
    else before = raw;
  }
  if (before) raws.push(before);
  const links = new Map(Object.entries(lexer.tokens.links));
  // The lexer writes tabs and line ends in its own way; where it does, the text is one block.
  return { raws: raws.join("") === text ? raws : [text], links };
}
