/**
 * Whether a text can be parsed as Markdown without blocking the page.
 *
 * A parser of Markdown takes time that grows with the square of some texts, and its stack with their nesting. What a
 * model writes can be anything, so that such a text is shown as it was written. All of this takes linear time.
 */

const LONGEST = 200_000;
/** Quotes and lists that begin on one line, each within the one before. */
const DEEPEST = 40;
/** A short row of a table is filled up to the width of its head, so that few characters make many cells. */
const MOST_CELLS = 5_000;
/** Steps for words that may become e-mail addresses: the parser tries each of them from each of its characters. */
const MOST_STEPS = 20_000_000;

export function isTame(text: string): boolean {
  return text.length <= LONGEST && !nestsTooDeep(text) && !hasTooManyCells(text) && !hasLongWords(text);
}

function nestsTooDeep(text: string): boolean {
  for (const [prefix] of text.matchAll(/^[ \t>*+.)\d-]+/gm)) {
    if (prefix.length <= DEEPEST) continue;
    const markers = prefix.match(/>|[-*+.)](?=[ \t])/g);
    if (markers !== null && markers.length > DEEPEST) return true;
  }
  return false;
}

function hasTooManyCells(text: string): boolean {
  let columns = 0;
  let cells = 0;
  for (const line of text.split("\n")) {
    if (isDelimiterRow(line)) columns = Math.max(columns, line.split("|").length);
    else if (line.trim() === "") columns = 0;
    cells += columns;
  }
  return cells > MOST_CELLS;
}

const isDelimiterRow = (line: string) =>
  line.includes("|") && line.includes("-") && /^[ \t>|:-]+$/.test(line);

function hasLongWords(text: string): boolean {
  let steps = 0;
  for (const [word] of text.matchAll(/[\w.+-]{64,}/g)) steps += word.length ** 2;
  return steps > MOST_STEPS;
}
