/** The text and the name of a new tree. */

const NAME = /^[a-z][a-z0-9_-]{0,59}$/;

/** Why a tree cannot have this name; null if it can. */
export function nameProblem(name: string, taken: readonly string[]): string | null {
  if (taken.includes(name)) return "A tree with this name exists.";
  if (NAME.test(name)) return null;
  return "Use up to 60 lower-case letters, digits, _ and -, beginning with a letter.";
}

/** The smallest tree that answers a question. */
export function emptyTree(name: string): string {
  return `tree: ${name}
description: Asks the model once, and answers with what it says.
root:
  sequence:
    - classify_query
    - compose_prompt
    - llm_turn: { tools: false }
    - stop: completed
`;
}

/** The text of a tree under another name. */
export function copyOf(source: string, name: string, newName: string): string {
  return source.replace(new RegExp(`^tree:([ \\t]*)${name}(?=\\s|$)`, "m"), `tree:$1${newName}`);
}
