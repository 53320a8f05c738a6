/** The service's calls: typed by its description, with this tab's token, and errors that say what is wrong. */
import createClient, { type Middleware } from "openapi-fetch";
import { hearDate, sleep } from "@/store/clock";
import { useSession } from "@/store/session";
import type { paths } from "./schema";

/** A call that the service has refused, or that has not reached it (`status` 0). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** The body's `detail`: a sentence, or a list of mistakes. */
  readonly detail: unknown;
  /** Seconds after which it may succeed, if the service says so. */
  readonly retryAfterS: number | null;

  constructor(status: number, detail: unknown, retryAfterS: number | null = null) {
    super(sentence(status, detail));
    this.status = status;
    this.detail = detail;
    this.retryAfterS = retryAfterS;
  }

  /** The service has not answered: it is down, or the network is. */
  get isOffline(): boolean {
    return this.status === 0;
  }
}

/** A refusal in words. Lists of mistakes (422) are joined by their messages. */
function sentence(status: number, detail: unknown): string {
  if (typeof detail === "string" && detail) return detail;
  if (Array.isArray(detail)) {
    const messages = detail.map((each: unknown) => {
      const { msg, message } = (each ?? {}) as { msg?: unknown; message?: unknown };
      return typeof message === "string" ? message : typeof msg === "string" ? msg : "";
    });
    const joined = messages.filter(Boolean).join(" ");
    if (joined) return joined;
  }
  return status === 0 ? "The service is not responding." : `The service answered with status ${status}.`;
}

const BEARER = "Bearer ";

const session: Middleware = {
  onRequest({ request }) {
    const { token } = useSession.getState();
    if (token !== null) request.headers.set("Authorization", BEARER + token);
    return request;
  },
  onResponse({ request, response }) {
    heard(response, request.headers.get("Authorization")?.slice(BEARER.length) ?? null);
  },
  onError({ error }) {
    if (error instanceof DOMException && error.name === "AbortError") return;
    const { connection, setConnection } = useSession.getState();
    if (connection !== "reconnecting") setConnection("offline"); // else a stream says more, and comes back by itself
    return new ApiError(0, null);
  },
};

/** Note that the service answers a call with this token, and whether it asks for another one. */
export function heard(response: Response, token: string | null): void {
  const { setConnection, refuse } = useSession.getState();
  setConnection("connected");
  hearDate(response.headers.get("Date"));
  if (response.status === 401) refuse(token);
}

/** Fetch; where the service limits how often a user may read, wait as long as it says, and try again. */
export async function patientFetch(input: string | Request, init: RequestInit = {}): Promise<Response> {
  const { method, signal } = input instanceof Request ? input : { method: "GET", signal: null, ...init };
  for (;;) {
    const response = await fetch(input, init);
    const seconds = retryAfter(response);
    if (response.status !== 429 || seconds === null || method !== "GET") return response;
    useSession.getState().waitUntil(Date.now() + seconds * 1_000);
    await sleep(seconds * 1_000, signal ?? new AbortController().signal);
  }
}

export const api = createClient<paths>({ baseUrl: "", fetch: (request) => patientFetch(request) });
api.use(session);

export function retryAfter(response: Response): number | null {
  const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds : null;
}

interface Answer<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** The body of a call that has succeeded; else throws an ApiError. */
export async function unwrap<Data>(call: Promise<Answer<Data>>): Promise<Data> {
  const { data, error, response } = await call;
  if (response.ok) return data as Data;
  const detail = typeof error === "object" && error !== null && "detail" in error ? error.detail : error;
  throw new ApiError(response.status, detail, retryAfter(response));
}
