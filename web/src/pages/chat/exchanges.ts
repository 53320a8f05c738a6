/** A saved conversation as questions with their answers. */
import type { components } from "@/api/schema";
import type { Answer, CallPart, Part } from "@/stream/answer";
import type { AttachedFile } from "@/stream/answerStream";
import type { TerminationReason } from "@/stream/chunks";

type Schemas = components["schemas"];
type Message = Schemas["ConversationBody"]["messages"][number];
type ToolUse = Schemas["ToolUse"];

export interface Exchange {
  readonly runId: string;
  readonly question: string;
  readonly attachments: readonly AttachedFile[];
  /** Milliseconds, as `Date.now`. */
  readonly askedAt: number;
  /**
   * What the conversation has kept of the answer: its text, notices and tool calls. The order in which calls and text
   * came is not kept; the run's own chunks have it.
   */
  readonly kept: Answer;
  /** Why it ended; null if the conversation does not say. */
  readonly reason: TerminationReason | null;
}

/** The messages of a conversation by the run that they belong to, oldest first. */
export function exchangesOf(messages: readonly Message[]): Exchange[] {
  const exchanges = new Map<string, Message[]>();
  for (const message of messages) {
    const others = exchanges.get(message.run_id);
    if (others) others.push(message);
    else exchanges.set(message.run_id, [message]);
  }
  return [...exchanges].map(([runId, own]) => exchangeOf(runId, own));
}

function exchangeOf(runId: string, messages: readonly Message[]): Exchange {
  const question = messages.find((message) => message.role === "user");
  const answer = messages.find((message) => message.role === "assistant");
  const calls = [...(question?.tool_calls ?? []), ...(answer?.tool_calls ?? [])].map(callOf);
  const notices = messages.flatMap((message): Part[] =>
    message.role === "system" ? [{ kind: "system", key: `n${message.n}`, notice: message }] : [],
  );
  const text: Part[] = answer ? [{ kind: "text", key: `n${answer.n}`, text: answer.content }] : [];
  return {
    runId,
    question: question?.content ?? "",
    attachments: (question?.metadata.attachments ?? []) as readonly AttachedFile[],
    askedAt: Date.parse((question ?? messages[0])?.at ?? ""),
    kept: {
      lastId: 0,
      parts: [...calls, ...notices, ...text],
      sources: answer?.metadata.sources ?? [],
      done: null,
    },
    reason: answer?.metadata.termination_reason ?? null,
  };
}

function callOf(use: ToolUse): CallPart {
  return {
    kind: "call",
    key: `call-${use.id}`,
    callId: use.id,
    name: use.name,
    arguments: use.arguments,
    result: { text: use.tool_result, isError: use.is_error, durationMs: use.duration_ms },
  };
}
