/** Small numbers as words, and what an answer is waiting for as a sentence. */
import { type Answer, openInterrupts, stateOf } from "@/stream/answer";

const WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

export const countWord = (count: number): string => WORDS[count] ?? String(count);

/** “Turn 6: waiting for two tools”. Null while text or thoughts come, which are seen. */
export function waitingFor(answer: Answer, turn: number): string | null {
  const last = answer.parts.at(-1);
  if (last?.kind === "text" || last?.kind === "thinking") return null;
  const running = answer.parts.filter((part) => part.kind === "call" && stateOf(part) === "running");
  const [first] = running;
  let words = "waiting for the model";
  const [asked] = openInterrupts(answer);
  if (running.length === 1 && first?.kind === "call") words = `waiting for ${first.name}`;
  else if (running.length > 1) words = `waiting for ${countWord(running.length)} tools`;
  if (asked && running.length <= openInterrupts(answer).length) words = "waiting for a person";
  return turn > 0 ? `Turn ${turn}: ${words}` : words.charAt(0).toUpperCase() + words.slice(1);
}
