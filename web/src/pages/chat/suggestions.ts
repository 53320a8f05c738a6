/** Questions to begin with: such as the tools of the service can answer, whatever the project is. */
import type { Source } from "@/stream/chunks";

type SourceType = Source["source_type"];

export interface Suggestion {
  readonly question: string;
  readonly about: string;
}

const BY_SOURCE: Readonly<Record<SourceType, readonly Suggestion[]>> = {
  code: [
    { question: "Where does this program begin?", about: "code" },
    { question: "How are errors handled and reported?", about: "code" },
    { question: "Which settings can a user change?", about: "code" },
    { question: "Which parts have no tests?", about: "code" },
  ],
  vault: [
    { question: "What did we decide lately, and why?", about: "notes" },
    { question: "Which questions are still open?", about: "notes" },
  ],
  thread: [{ question: "What was discussed last?", about: "threads" }],
  web: [{ question: "Which dependencies have new versions?", about: "web" }],
};

const ORDER: readonly SourceType[] = ["code", "vault", "thread", "web"];

/** Four questions at most: first one for each source, then more of the first sources. */
export function suggestionsFor(sources: readonly SourceType[]): Suggestion[] {
  const lists = ORDER.filter((source) => sources.includes(source)).map((source) => BY_SOURCE[source]);
  const found: Suggestion[] = [];
  for (let round = 0; round < 4; round += 1) {
    for (const list of lists) {
      const suggestion = list[round];
      if (suggestion) found.push(suggestion);
    }
  }
  return found.slice(0, 4);
}

const NAMES: Readonly<Record<SourceType, string>> = {
  code: "the code",
  vault: "the notes",
  thread: "the threads",
  web: "the web",
};

/** “the code, the notes and the threads”. */
export function sourcesText(sources: readonly SourceType[]): string {
  return new Intl.ListFormat("en-GB", { type: "conjunction" }).format(
    ORDER.filter((source) => sources.includes(source)).map((source) => NAMES[source]),
  );
}
