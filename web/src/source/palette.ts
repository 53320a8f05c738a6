/** The tokens' colours for canvases, which know no style sheets; they change with the theme. */
import { useSyncExternalStore } from "react";

const NAMES = [
  "canvas",
  "surface",
  "line",
  "line-2",
  "line-3",
  "ink",
  "ink-2",
  "ink-3",
  "on-ink",
  "on-mark",
  "head",
  "head-soft",
  "sel",
  "ok-fill",
  "ok-soft",
  "fail-fill",
  "fail-soft",
  "run-fill",
  "run-soft",
  "err-fill",
  "err-soft",
  "warn",
  "warn-fill",
  "add",
  "del",
  "sans",
] as const;
export type ColourName = (typeof NAMES)[number];
export type Palette = Readonly<Record<ColourName, string>>;

let known: { theme: string; palette: Palette } | null = null;

function read(): Palette {
  const theme = document.documentElement.dataset.theme ?? "";
  if (known?.theme !== theme) {
    const style = getComputedStyle(document.documentElement);
    const entries = NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()] as const);
    known = { theme, palette: Object.fromEntries(entries) as Record<ColourName, string> };
  }
  return known.palette;
}

function subscribe(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => observer.disconnect();
}

/** The colours of the theme that is shown. */
export function usePalette(): Palette {
  return useSyncExternalStore(subscribe, read);
}
