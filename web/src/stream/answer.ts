/**
 * What the chunks of a query add up to: the parts of an answer in the order in which they came.
 *
 * An `Answer` is never changed. `addChunks` takes all chunks of a frame at once and returns the next one; parts that
 * got nothing stay the same objects, so that only what changed is drawn again.
 */
import type {
  AnsweredChunk,
  Chunk,
  DoneChunk,
  ErrorChunk,
  NumberedChunk,
  Source,
  SystemChunk,
} from "./chunks";

export interface TextPart {
  readonly kind: "text" | "thinking";
  readonly key: string;
  readonly text: string;
}

export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
  readonly durationMs: number;
}

export interface CallPart {
  readonly kind: "call";
  readonly key: string;
  readonly callId: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly result: ToolResult | null;
}

export interface SystemPart {
  readonly kind: "system";
  readonly key: string;
  readonly notice: Omit<SystemChunk, "type">;
}

export interface ErrorPart {
  readonly kind: "error";
  readonly key: string;
  readonly error: string;
  readonly errorType: ErrorChunk["error_type"];
}

/** What a person is asked: an approval or a question, and what has become of it. */
export interface InterruptPart {
  readonly kind: "interrupt";
  readonly key: string;
  readonly interrupt: AnsweredChunk["interrupt"];
  /** What was answered; null while it is open. */
  readonly answered: Omit<AnsweredChunk, "interrupt"> | null;
}

export type Part = TextPart | CallPart | SystemPart | ErrorPart | InterruptPart;

export interface Answer {
  /** The number of the last chunk that is in it; 0 before the first. */
  readonly lastId: number;
  readonly parts: readonly Part[];
  readonly sources: readonly Source[];
  /** The last chunk; null while the query goes on. */
  readonly done: DoneChunk | null;
}

export const NO_ANSWER: Answer = { lastId: 0, parts: [], sources: [], done: null };

/** The answer with further chunks. Chunks that it already has are left out. */
export function addChunks(answer: Answer, chunks: readonly NumberedChunk[]): Answer {
  const fresh = chunks.filter(({ id }) => id > answer.lastId);
  const last = fresh.at(-1);
  if (!last) return answer;
  const parts = [...answer.parts];
  const sources = [...answer.sources];
  let done = answer.done;
  for (const { id, chunk } of fresh) {
    if (chunk.type === "done") done = chunk;
    else if (chunk.type === "source") sources.push(chunk.source);
    else addPart(parts, id, chunk);
  }
  return {
    lastId: last.id,
    parts,
    sources: sources.length === answer.sources.length ? answer.sources : sources,
    done,
  };
}

function addPart(parts: Part[], id: number, chunk: Exclude<Chunk, { type: "done" | "source" }>): void {
  const key = String(id);
  switch (chunk.type) {
    case "content": {
      addText(parts, key, "text", chunk.content);
      return;
    }
    case "thinking": {
      addText(parts, key, "thinking", chunk.content);
      return;
    }
    case "tool_call": {
      const call = chunk.tool_call;
      parts.push({
        kind: "call",
        key,
        callId: call.id,
        name: call.name,
        arguments: call.arguments,
        result: null,
      });
      return;
    }
    case "tool_result": {
      const at = parts.findLastIndex((part) => part.kind === "call" && part.callId === chunk.tool_call_id);
      const call = parts[at];
      if (call?.kind !== "call") return;
      const result = { text: chunk.tool_result, isError: chunk.is_error, durationMs: chunk.duration_ms };
      parts[at] = { ...call, result };
      return;
    }
    case "system":
      parts.push({ kind: "system", key, notice: chunk });
      return;
    case "error":
      parts.push({ kind: "error", key, error: chunk.error, errorType: chunk.error_type });
      return;
    case "approval_requested":
    case "question":
      parts.push({ kind: "interrupt", key, interrupt: chunk.interrupt, answered: null });
      return;
    case "answered": {
      const { interrupt, ...answered } = chunk;
      const at = parts.findLastIndex(
        (part) => part.kind === "interrupt" && part.interrupt.id === interrupt.id,
      );
      const asked = parts[at];
      if (asked) parts[at] = { kind: "interrupt", key: asked.key, interrupt, answered };
      else parts.push({ kind: "interrupt", key, interrupt, answered }); // nobody had to be asked
    }
  }
}

/** What waits for a person now: nothing any more when the answer has ended. */
export function openInterrupts(answer: Answer): readonly InterruptPart[] {
  if (answer.done) return [];
  return answer.parts.filter((part): part is InterruptPart => part.kind === "interrupt" && !part.answered);
}

/** Text goes on in the last part of its kind, unless something else has come between than that it goes on. */
function addText(parts: Part[], key: string, kind: TextPart["kind"], text: string): void {
  const at = parts.findLastIndex((part) => part.kind !== "system" || part.notice.system_type !== "recovered");
  const last = parts[at];
  if (last?.kind === kind) parts[at] = { ...last, text: last.text + text };
  else parts.push({ kind, key, text });
}

/** The text of the answer: its content chunks, joined. */
export function textOf(answer: Answer): string {
  return answer.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

/** What is shown as one block: text, a notice, an error, what a person is asked, or a card with a thought and the tool calls after it. */
export type Block =
  | { readonly kind: "text"; readonly key: string; readonly part: TextPart }
  | { readonly kind: "interrupt"; readonly key: string; readonly part: InterruptPart }
  | { readonly kind: "system"; readonly key: string; readonly part: SystemPart }
  | { readonly kind: "error"; readonly key: string; readonly part: ErrorPart }
  | {
      readonly kind: "work";
      readonly key: string;
      readonly thought: TextPart | null;
      readonly calls: readonly CallPart[];
    };

/** The parts as blocks. A thought begins a card; the tool calls that follow stand in it. */
export function blocksOf(parts: readonly Part[]): Block[] {
  const blocks: Block[] = [];
  for (const part of parts) {
    const last = blocks.at(-1);
    switch (part.kind) {
      case "text":
        // Blank text between two tool calls is no paragraph, and does not part them.
        if (part.text.trim()) blocks.push({ kind: "text", key: part.key, part });
        break;
      case "system":
        blocks.push({ kind: "system", key: part.key, part });
        break;
      case "error":
        blocks.push({ kind: "error", key: part.key, part });
        break;
      case "interrupt":
        blocks.push({ kind: "interrupt", key: part.key, part });
        break;
      case "thinking":
        if (part.text.trim()) blocks.push({ kind: "work", key: part.key, thought: part, calls: [] });
        break;
      case "call":
        if (last?.kind === "work") blocks[blocks.length - 1] = { ...last, calls: [...last.calls, part] };
        else blocks.push({ kind: "work", key: part.key, thought: null, calls: [part] });
    }
  }
  return blocks;
}

export type CallState = "running" | "done" | "error" | "not-run";

/** How a tool call stands. A call that was refused before it began took no time, and its result says so first. */
export function stateOf(call: CallPart): CallState {
  if (!call.result) return "running";
  if (!call.result.isError) return "done";
  return call.result.text.startsWith("Not run") ? "not-run" : "error";
}
