/** What the service searches, in words. */
import type { Source } from "@/stream/chunks";

type SourceType = Source["source_type"];

const ORDER: readonly SourceType[] = ["code", "vault", "thread", "web"];

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
