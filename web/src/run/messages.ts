/** The request of a turn and its raw answer, as the pane "Messages" lists them. */
import type { TurnFacts } from "./facts";
import type { RunModel } from "./model";

export interface Message {
  readonly role: string;
  readonly text: string;
}

/** The turn that a tick shows: the last one that had begun by then. */
export function turnShownAt(model: RunModel, at: number): TurnFacts | undefined {
  const tick = model.ticks[at]?.tick ?? 0;
  return model.turns.findLast((turn) => turn.began_tick <= tick);
}

/** The turn that was asked before another one, by the same node. */
export function turnBefore(model: RunModel, turn: TurnFacts): TurnFacts | undefined {
  return model.turns.findLast((each) => each.n < turn.n && each.node === turn.node);
}

/** The system prompt is that of the turn before. */
export function hasSamePrompt(turn: TurnFacts, before: TurnFacts | undefined): boolean {
  const [one, other] = [turn.request, before?.request];
  if (one == null || other == null) return false;
  if (one.prompt_sha != null && other.prompt_sha != null) return one.prompt_sha === other.prompt_sha;
  return one.prompt != null && one.prompt === other.prompt;
}

/** The new messages of a request. */
export function newMessages(turn: TurnFacts): Message[] {
  return (turn.request?.messages ?? []).map(messageOf);
}

function messageOf(message: unknown): Message {
  if (!isObject(message)) return { role: "message", text: contentText(message) };
  const role = typeof message.role === "string" ? message.role : "message";
  return { role, text: contentText("content" in message ? message.content : message) };
}

/** The content of a message as text, as the provider gets it. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(blockText).join("\n");
  return JSON.stringify(content, null, 1);
}

function blockText(block: unknown): string {
  if (!isObject(block)) return typeof block === "string" ? block : JSON.stringify(block);
  if (typeof block.text === "string") return block.text;
  if (typeof block.thinking === "string") return block.thinking;
  if (block.type === "tool_use") return `${String(block.name)}(${JSON.stringify(block.input)})`;
  if (block.type === "tool_result") return `→ ${contentText(block.content)}`;
  if (typeof block.content === "string") return block.content;
  return JSON.stringify(block, null, 1);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
