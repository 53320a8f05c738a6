/** What the syntax tree of a file says about nodes: which words are node kinds, and on which path the cursor stands. */

import { ensureSyntaxTree, syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";

export type SyntaxNode = ReturnType<typeof syntaxTree>["topNode"];

/** A step of the path to a node. */
export interface Step {
  label: string;
  /** Of its key, from 1. */
  line: number;
}

const ROOT = "root";
const LONGEST_PARSE_MS = 200;
/** Settings that stand where a kind could stand; the parser cannot tell them apart. */
const NO_KIND: ReadonlySet<string> = new Set([
  "name",
  "children",
  "child",
  "when",
  "rules",
  "blackboard",
  "params",
]);

/** The path from the top of the file to what stands at an offset: named nodes by their names, others by their kinds. */
export function pathAt(state: EditorState, offset: number): Step[] {
  const line = state.doc.lineAt(offset);
  const indent = line.text.search(/\S/);
  if (indent < 0) return [];
  const from = Math.max(offset, line.from + indent + (line.text[indent] === "-" ? 2 : 0));
  const steps: Step[] = [];
  const isAtEnd = from >= line.from + line.text.trimEnd().length; // there what was written counts, not what follows
  let node: SyntaxNode | null = syntaxTree(state).resolveInner(Math.min(from, line.to), isAtEnd ? -1 : 1);
  for (; node; node = node.parent) {
    const step = node.name === "Pair" ? stepOfPair(state, node) : stepOfItem(state, node);
    if (step) steps.unshift(step);
  }
  return steps;
}

/** All nodes of the file, in its order. */
export function nodesOf(state: EditorState): Step[] {
  const found: Step[] = [];
  const tree = ensureSyntaxTree(state, state.doc.length, LONGEST_PARSE_MS) ?? syntaxTree(state);
  tree.iterate({
    enter: ({ name, node }) => {
      const pair = name === "Key" && isKindKey(state, node) ? node.parent : null;
      const step = pair ? stepOfPair(state, pair) : stepOfItem(state, node);
      if (step) found.push(step);
    },
  });
  return found;
}

/** Whether a `Key` names a kind: it is the first key of a node, below `root`. */
export function isKindKey(state: EditorState, key: SyntaxNode): boolean {
  const pair = key.parent;
  const mapping = pair?.parent;
  if (pair?.name !== "Pair" || mapping?.name !== "BlockMapping" || pair.prevSibling?.name === "Pair")
    return false;
  if (NO_KIND.has(text(state, key)) || topKey(state, pair) !== ROOT) return false;
  const holder = mapping.parent;
  if (holder?.name === "Item") return true;
  const outer = holder?.name === "Pair" ? keyOf(state, holder) : null;
  return outer === ROOT || outer === "child" || outer === "when";
}

/** Whether a `Literal` is a node without settings: an item of a list of nodes. */
export function isKindLiteral(state: EditorState, literal: SyntaxNode): boolean {
  const list = literal.parent?.name === "Item" ? literal.parent.parent : null;
  if (list?.name !== "BlockSequence" || topKey(state, list) !== ROOT) return false;
  const holder = list.parent;
  if (holder?.name !== "Pair") return false;
  const key = holder.getChild("Key");
  return keyOf(state, holder) === "children" || (key !== null && isKindKey(state, key));
}

function stepOfPair(state: EditorState, pair: SyntaxNode): Step | null {
  const key = pair.getChild("Key");
  if (!key) return null;
  const top = topKey(state, pair);
  if (top === ROOT && keyOf(state, pair) !== ROOT && !isKindKey(state, key)) return null;
  const named = pair
    .getChild("BlockMapping")
    ?.getChildren("Pair")
    .find((each) => keyOf(state, each) === "name");
  const name = top === ROOT && named ? named.lastChild : null;
  return { label: text(state, name ?? key), line: state.doc.lineAt(key.from).number };
}

function stepOfItem(state: EditorState, node: SyntaxNode): Step | null {
  return node.name === "Literal" && isKindLiteral(state, node)
    ? { label: text(state, node), line: state.doc.lineAt(node.from).number }
    : null;
}

/** The key of the file's field in which a node of the syntax stands. */
function topKey(state: EditorState, node: SyntaxNode): string | null {
  let top: SyntaxNode | null = null;
  for (let each: SyntaxNode | null = node; each; each = each.parent) if (each.name === "Pair") top = each;
  return top && keyOf(state, top);
}

function keyOf(state: EditorState, pair: SyntaxNode): string | null {
  const key = pair.getChild("Key");
  return key && text(state, key);
}

function text(state: EditorState, node: SyntaxNode): string {
  return state.sliceDoc(node.from, node.to);
}
