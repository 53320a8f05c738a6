/** How a user stands by the limits of the day, as a sentence. */
import { moment } from "@/parts/format";

interface Standing {
  readonly resets_at: string;
  readonly limits: readonly { readonly state: string }[];
}

export function leftWords({ limits, resets_at }: Standing): string {
  const again = moment(resets_at);
  if (limits.some(({ state }) => state === "over"))
    return `The limit is reached: questions are possible again from ${again}.`;
  if (limits.some(({ state }) => state === "near"))
    return `The limit is near, so answers may be shorter. The next day begins ${again}.`;
  return `The next day begins ${again}.`;
}
