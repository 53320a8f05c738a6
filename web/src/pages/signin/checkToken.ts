/** Asks the service whether it knows a token, before the tab keeps it. */

import type { Schemas } from "@/api/types";

export type Refusal = "empty" | "unknown" | "offline";

/** Whose token it is, or why the service does not take it. */
export type Checked = { readonly userId: string } | { readonly refusal: Refusal };

/** A header can hold no other characters than ASCII's. */
export async function checkToken(token: string): Promise<Checked> {
  if (!/^[\x21-\x7e]+$/.test(token)) return { refusal: "unknown" };
  try {
    const response = await fetch("/api/me", {
      headers: { Authorization: `Bearer ${token}` },
      cache: "no-store",
    });
    if (response.ok) return { userId: ((await response.json()) as Schemas["Me"]).user_id };
    return { refusal: response.status === 401 || response.status === 403 ? "unknown" : "offline" };
  } catch {
    return { refusal: "offline" };
  }
}
