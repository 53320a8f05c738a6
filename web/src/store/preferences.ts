/** How a person likes the console to look and to listen; kept in this browser. Nothing secret is kept here. */
import { create } from "zustand";

const KEY = "oracle.preferences";

export type Theme = "system" | "light" | "dark";

interface Kept {
  theme: Theme;
  /** Single letters are commands; those with ⌘ or Ctrl always are. */
  singleKeys: boolean;
  /** The tree stands beside the chat; null until it is chosen: for runs that began on this page. */
  treeBesideChat: boolean | null;
}

interface Preferences extends Kept {
  change: (changes: Partial<Kept>) => void;
}

const DEFAULTS: Kept = { theme: "system", singleKeys: true, treeBesideChat: null };

function read(): Kept {
  try {
    // eslint-disable-next-line no-restricted-globals -- the one place that may
    const found: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof found !== "object" || found === null) return DEFAULTS;
    const { theme, singleKeys, treeBesideChat } = found as Partial<Record<keyof Kept, unknown>>;
    return {
      theme: theme === "light" || theme === "dark" ? theme : DEFAULTS.theme,
      singleKeys: typeof singleKeys === "boolean" ? singleKeys : DEFAULTS.singleKeys,
      treeBesideChat: typeof treeBesideChat === "boolean" ? treeBesideChat : DEFAULTS.treeBesideChat,
    };
  } catch {
    return DEFAULTS;
  }
}

export const usePreferences = create<Preferences>()((set, get) => ({
  ...read(),
  change: (changes) => {
    set(changes);
    const { theme, singleKeys, treeBesideChat } = get();
    try {
      // eslint-disable-next-line no-restricted-globals -- the one place that may
      localStorage.setItem(KEY, JSON.stringify({ theme, singleKeys, treeBesideChat }));
    } catch {
      // a browser without storage forgets them with the page
    }
  },
}));

const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

/** The theme that is shown: the chosen one, or the system's. */
export function shownTheme(theme: Theme): "light" | "dark" {
  if (theme !== "system") return theme;
  return prefersDark.matches ? "dark" : "light";
}

/** Put the theme on the document now, and whenever the choice or the system's changes. */
export function applyTheme(): void {
  const apply = () => {
    document.documentElement.dataset.theme = shownTheme(usePreferences.getState().theme);
  };
  apply();
  usePreferences.subscribe(apply);
  prefersDark.addEventListener("change", apply);
}
