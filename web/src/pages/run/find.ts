import type { RunModel } from "@/run/model";
import { valueText } from "@/run/words";

/** The next blackboard key whose name or value has these words, after another one; `null` if there is none. */
export function findValue(model: RunModel, at: number, words: string, after: string | null): string | null {
  const wanted = words.trim().toLowerCase();
  if (wanted === "") return null;
  const keys = model.keyNames;
  const first = after === null ? 0 : keys.indexOf(after) + 1;
  for (let step = 0; step < keys.length; step++) {
    const key = keys[(first + step) % keys.length];
    if (key === undefined) continue;
    const text = `${key} ${valueText(model.value(key, at), 5000)}`;
    if (text.toLowerCase().includes(wanted)) return key;
  }
  return null;
}
