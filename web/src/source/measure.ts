let known: { font: string; width: number } | null = null;

/** The width of a character of the source's font, in px. */
export function measureCharacter(): number {
  const mono = getComputedStyle(document.documentElement).getPropertyValue("--mono").trim() || "monospace";
  const font = `12px ${mono}`;
  if (known?.font === font) return known.width;
  const pen = document.createElement("canvas").getContext("2d");
  if (pen === null) return 7.2;
  pen.font = font;
  known = { font, width: pen.measureText("0".repeat(100)).width / 100 };
  return known.width;
}

const widths = new Map<string, number>();

/** The width of a name in the breadcrumb's font, in px. */
export function measureWords(text: string): number {
  const found = widths.get(text);
  if (found !== undefined) return found;
  const pen = document.createElement("canvas").getContext("2d");
  if (pen === null) return text.length * 7;
  const sans = getComputedStyle(document.documentElement).getPropertyValue("--sans").trim() || "sans-serif";
  pen.font = `12px ${sans}`;
  const { width } = pen.measureText(text);
  widths.set(text, width);
  return width;
}
