/** Where a new line begins: below its sibling, or two spaces deeper where a block begins. */

import { indentService } from "@codemirror/language";

const ITEM = /^(\s*)((?:- )+)/;
const OPENS = /(?::|[|>][-+\d]*)\s*(?:#.*)?$/; // a key without value, or the head of a block of text

/** The indent of the line behind this one, in spaces. */
export function indentBehind(line: string): number {
  const item = ITEM.exec(line);
  const indent = item ? (item[1]?.length ?? 0) : line.search(/\S|$/);
  if (!OPENS.test(line) || /^\s*#/.test(line)) return indent;
  return indent + (item?.[2]?.length ?? 0) + 2;
}

export const indenting = indentService.of((context, position) => {
  const { doc } = context.state;
  for (let line = doc.lineAt(position); line.number > 1;) {
    line = doc.line(line.number - 1);
    if (line.text.trim()) return indentBehind(context.lineAt(line.from).text);
  }
  return 0;
});
