/** Sentences of a growing text, for readers who hear it: each is said once, when it is complete. */

const END_OF_SENTENCE = /[.!?:…]["')\]]*\s|\n/g;

/**
 * The length of the text that consists of complete sentences.
 *
 * A code block counts as complete when its fence is closed; before that nothing in it is said.
 */
export function spokenLength(text: string, from = 0): number {
  let length = from;
  END_OF_SENTENCE.lastIndex = from;
  for (let match = END_OF_SENTENCE.exec(text); match; match = END_OF_SENTENCE.exec(text)) {
    length = match.index + match[0].length;
  }
  const fences = text.slice(from, length).match(/^ {0,3}```/gm)?.length ?? 0;
  return fences % 2 === 0 ? length : from;
}

/** Markdown as it is said: without its marks; a code block is only mentioned. */
export function spoken(markdown: string): string {
  return markdown
    .replace(/^ {0,3}```[^\n]*\n[\s\S]*?^ {0,3}```[^\n]*$/gm, "Code block.")
    .replace(/!?\[([^[\]]*)\]\([^()\n]*\)/g, "$1") // no part can begin anew within itself: linear time
    .replace(/^[ \t]*(?:[#>]+|[-*+])[ \t]+/gm, "")
    .replace(/[*_`|]+/g, "")
    .replace(/\s+/g, " ")
    .trim();
}
