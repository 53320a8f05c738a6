/** Sign-in at an OpenID Connect issuer: authorization code with PKCE. The service exchanges the code for the token. */
import { useSession } from "@/store/session";
import { checkToken } from "./checkToken";

const KEY = "oracle.sign-in";

/** What the tab keeps while its user is at the issuer. */
interface Pending {
  readonly issuer: string;
  readonly state: string;
  readonly verifier: string;
  /** The address that was asked for, without the origin. */
  readonly address: string;
}

let problem = "";

/** Why the last sign-in at an issuer has failed; empty if it has not. */
export const problemOfSignIn = () => problem;

/** The names of the issuers at which users can sign in; none where the service has no such feature. */
export async function readIssuers(): Promise<readonly string[]> {
  try {
    const response = await fetch("/open/sign-in");
    return response.ok ? ((await response.json()) as { issuers: string[] }).issuers : [];
  } catch {
    return [];
  }
}

/** Leave for the issuer's page. Returns why that is not possible. */
export async function beginSignIn(issuer: string): Promise<string> {
  try {
    const response = await fetch(pathOf(issuer));
    if (!response.ok) return await detailOf(response);
    const { address, client_id, scope } = (await response.json()) as Record<
      "address" | "client_id" | "scope",
      string
    >;
    const [state, verifier] = [randomText(), randomText()];
    const to = new URL(address);
    const asked = {
      response_type: "code",
      client_id,
      scope,
      state,
      redirect_uri: redirectAddress(),
      code_challenge: base64url(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(asked)) to.searchParams.set(name, value);
    const pending: Pending = {
      issuer,
      state,
      verifier,
      address: location.pathname + location.search + location.hash,
    };
    sessionStorage.setItem(KEY, JSON.stringify(pending));
    location.assign(to);
    return "";
  } catch {
    return "The sign-in page cannot be reached. Try again.";
  }
}

/** Finish a sign-in that the issuer has sent back to the page; call it before the page is shown. */
export async function finishSignIn(): Promise<void> {
  const sent = new URLSearchParams(location.search);
  const pending = takePending();
  if (pending === null) return;
  if (sent.get("state") !== pending.state) return;
  history.replaceState(null, "", pending.address);
  const code = sent.get("code");
  if (code === null) {
    problem = `${pending.issuer} has not signed you in (${sent.get("error") ?? "no code"}).`;
    return;
  }
  try {
    const body = { code, verifier: pending.verifier, redirect_uri: redirectAddress() };
    const response = await fetch(pathOf(pending.issuer), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) {
      problem = await detailOf(response);
      return;
    }
    const { token } = (await response.json()) as { token: string };
    const checked = await checkToken(token);
    if ("userId" in checked) useSession.getState().signIn(token, checked.userId);
    else problem = `The service does not accept the token of ${pending.issuer}. Ask your operator.`;
  } catch {
    problem = "The service does not answer. Try again when it is back.";
  }
}

/** The page to which the issuer sends the browser back: the console's first one. */
const redirectAddress = () => `${location.origin}/`;
const pathOf = (issuer: string) => `/open/sign-in/${encodeURIComponent(issuer)}`;
const randomText = () => base64url(crypto.getRandomValues(new Uint8Array(32)).buffer);

function base64url(bytes: ArrayBuffer): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function detailOf(response: Response): Promise<string> {
  const answer = (await response.json().catch(() => ({}))) as { detail?: unknown };
  return typeof answer.detail === "string" ? answer.detail : "Sign-in failed. Try again.";
}

function takePending(): Pending | null {
  try {
    const text = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    return text === null ? null : (JSON.parse(text) as Pending);
  } catch {
    return null;
  }
}
