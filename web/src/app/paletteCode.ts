/** The code of the palette: it is loaded behind the first page, and is there when the palette is wanted. */
import type Palette from "./Palette";

type Code = typeof Palette;

let code: Code | null = null;
let loading: Promise<Code> | null = null;

/** Null until it is loaded. */
export const paletteCode = (): Code | null => code;

/** Load it, once; after a failure the next call tries again. */
export function loadPalette(): Promise<Code> {
  loading ??= import("./Palette").then(
    (module) => (code = module.default),
    (error: unknown) => {
      loading = null;
      throw error;
    },
  );
  return loading;
}

/** Load it when the browser has nothing else to do; returns what calls that off. */
export function loadPaletteWhenIdle(): () => void {
  const load = () => {
    loadPalette().catch(() => undefined); // whoever opens it gets a message
  };
  if (typeof requestIdleCallback === "function") {
    const idle = requestIdleCallback(load);
    return () => cancelIdleCallback(idle);
  }
  const timer = setTimeout(load, 2_000); // Safari
  return () => clearTimeout(timer);
}
