/** What this tab knows beside the service's own state: its token, and whether the service answers. */
import { create } from "zustand";

const KEY = "oracle.token";
const USER_KEY = "oracle.user";

export type Connection = "connected" | "reconnecting" | "offline";

interface Session {
  /** The bearer token; null where the service needs none, or nobody has signed in. */
  token: string | null;
  /** The service has refused a call for want of a (valid) token. */
  needsToken: boolean;
  /** A token was given, and the service has refused it. */
  refused: boolean;
  connection: Connection;
  /** When reading goes on: the service has said that this user reads too often. */
  waitsUntil: number;
  /** Keep a token that the service knows. What the tab holds of another user goes. */
  signIn: (token: string, userId: string) => void;
  /** Forget the token, and all that was loaded or begun with it. */
  signOut: () => void;
  /** The service has answered 401 to a call with this token. One of an earlier token says nothing of the present one. */
  refuse: (token: string | null) => void;
  setConnection: (connection: Connection) => void;
  waitUntil: (at: number) => void;
}

/** sessionStorage is of this tab alone and ends with it; it may be disabled. */
function kept(key: string): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

function keep(key: string, value: string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, value);
  } catch {
    // it lives as long as the page, then
  }
}

/** Whose drafts and answers this tab holds. It outlives a token that has expired, so that its user finds them again. */
let holder = kept(USER_KEY);
const forgetters: (() => void)[] = [];

/** Have something called when the tab must hold nothing of its user any more: at sign-out, and before another one signs in. */
export function onForget(forget: () => void): void {
  forgetters.push(forget);
}

function forgetAll(): void {
  for (const forget of forgetters) forget();
  try {
    sessionStorage.clear(); // with the drafts
  } catch {
    // a browser without storage keeps none
  }
  holder = null;
}

export const useSession = create<Session>()((set, get) => ({
  token: kept(KEY),
  needsToken: false,
  refused: false,
  connection: "connected",
  waitsUntil: 0,
  signIn: (token, userId) => {
    if (userId !== holder) forgetAll();
    holder = userId;
    keep(KEY, token);
    keep(USER_KEY, userId);
    set({ token, needsToken: false, refused: false });
  },
  signOut: () => {
    set({ token: null, needsToken: true, refused: false });
    forgetAll();
  },
  refuse: (token) => {
    if (token !== get().token) return;
    keep(KEY, null);
    set({ token: null, needsToken: true, refused: token !== null });
  },
  setConnection: (connection) => {
    if (get().connection !== connection) set({ connection });
  },
  waitUntil: (at) => set({ waitsUntil: Math.max(at, get().waitsUntil) }),
}));
