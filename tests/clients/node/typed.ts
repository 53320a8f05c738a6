// What a chat front end does with the types of `/openapi.json`; `tsc --strict` says whether they carry it.
import type { components, operations } from "./schema.js";

type Chunk = components["schemas"]["Chunk"];
type Conversation = operations["read_conversation"]["responses"][200]["content"]["application/json"];
type ErrorType = components["schemas"]["ErrorChunk"]["error_type"];

export const question: components["schemas"]["QueryRequest"] = {
  question: "How does the login work?",
  limits: { max_iterations: 5 },
};

const ADVICE: Partial<Record<ErrorType, string>> = { provider_overloaded: "Try again in a moment." };

export function line(chunk: Chunk): string {
  switch (chunk.type) {
    case "thinking":
    case "content":
      return chunk.content;
    case "source":
      return `${chunk.source.path}:${chunk.source.line ?? 1} (${chunk.source.source_type})`;
    case "tool_call":
      return `${chunk.tool_call.name}(${JSON.stringify(chunk.tool_call.arguments)})`;
    case "tool_result":
      return `${chunk.is_error ? "failed" : "done"} in ${chunk.duration_ms.toFixed()} ms: ${chunk.tool_result}`;
    case "system":
      return `${chunk.severity}: ${chunk.system_message} (${chunk.metadata.current_value ?? "-"})`;
    case "approval_requested":
    case "question":
      return `${chunk.interrupt.message} (${chunk.interrupt.may.join(", ")})`;
    case "answered":
      return `${chunk.interrupt.answered_by ?? "no person"}: ${chunk.comment ?? chunk.interrupt.status}`;
    case "error":
      return ADVICE[chunk.error_type] ?? chunk.error;
    case "done":
      return `${chunk.termination_reason} after ${chunk.turns.toFixed()} turns`;
    default: {
      const never: never = chunk; // another type of chunk would be a mistake of this client
      return never;
    }
  }
}

export function read(event: string): string {
  return line(JSON.parse(event) as Chunk);
}

export function shown(conversation: Conversation): string[] {
  return conversation.messages.map((message) => {
    switch (message.role) {
      case "user":
        return message.content;
      case "assistant":
        return [...message.tool_calls.map((call) => call.name), message.content].join("\n");
      case "system":
        return message.system_message;
    }
  });
}

// @ts-expect-error  there is no such chunk
export const wrong: Chunk = { type: "contents", content: "x" };
// @ts-expect-error  there is no such reason
export const reason: components["schemas"]["DoneChunk"]["termination_reason"] = "bored";
