/** Drawing on a canvas in CSS pixels. */
import type { Palette } from "./palette";

export type Pen = CanvasRenderingContext2D;

/** Clear a canvas, give it this size, and get its pen; `null` where the browser has none. */
export function penOf(canvas: HTMLCanvasElement, width: number, height: number): Pen | null {
  const scale = window.devicePixelRatio || 1;
  const [wide, tall] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== wide || canvas.height !== tall) {
    canvas.width = wide;
    canvas.height = tall;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const pen = canvas.getContext("2d");
  if (pen === null) return null;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.textBaseline = "middle";
  return pen;
}

export function fillBox(
  pen: Pen,
  colour: string,
  box: readonly [number, number, number, number],
  radius = 0,
): void {
  pen.fillStyle = colour;
  pen.beginPath();
  pen.roundRect(...box, radius);
  pen.fill();
}

export interface Stroke {
  readonly colour: string;
  readonly width?: number;
  readonly dash?: readonly number[];
}

export function strokeLine(
  pen: Pen,
  { colour, width = 1, dash = [] }: Stroke,
  points: readonly (readonly [number, number])[],
): void {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.setLineDash([...dash]);
  pen.beginPath();
  points.forEach(([x, y], at) => (at === 0 ? pen.moveTo(x, y) : pen.lineTo(x, y)));
  pen.stroke();
  pen.setLineDash([]);
}

export interface Words {
  readonly colour: string;
  readonly size?: number;
  readonly isStrong?: boolean;
  readonly align?: CanvasTextAlign;
}

export const fontOf = (palette: Palette, { isStrong = false, size = 11 }: Words): string =>
  `${isStrong ? "600 " : ""}${size}px ${palette.sans}`;

/** Write words in the console's sans-serif; answers their width. */
export function write(
  pen: Pen,
  palette: Palette,
  text: string,
  at: readonly [number, number],
  words: Words,
): number {
  pen.fillStyle = words.colour;
  pen.font = fontOf(palette, words);
  pen.textAlign = words.align ?? "left";
  pen.fillText(text, ...at);
  return pen.measureText(text).width;
}

/** Add a square on its corner to a path. */
export function addDiamond(path: Path2D, x: number, y: number, half: number): void {
  path.moveTo(x, y - half);
  path.lineTo(x + half, y);
  path.lineTo(x, y + half);
  path.lineTo(x - half, y);
  path.closePath();
}

/** Draw where another worker has gone on: two strokes with a gap between, from the top down. */
export function drawSeam(pen: Pen, palette: Palette, x: number, height: number): void {
  for (const at of [x - 1.5, x + 1.5])
    strokeLine(pen, { colour: palette["ink-2"], dash: [6, 3] }, [
      [at, 0],
      [at, height],
    ]);
}

/** Draw that a person is asked: a ring with a question mark. */
export function drawAsked(pen: Pen, palette: Palette, x: number, y: number): void {
  pen.strokeStyle = palette.ink;
  pen.lineWidth = 1.2;
  pen.beginPath();
  pen.arc(x, y, 5, 0, 2 * Math.PI);
  pen.stroke();
  write(pen, palette, "?", [x, y + 0.5], { colour: palette.ink, size: 9, isStrong: true, align: "center" });
}

/** Draw a warning sign. */
export function drawWarning(pen: Pen, palette: Palette, x: number, y: number): void {
  pen.fillStyle = palette["warn-fill"];
  pen.beginPath();
  pen.moveTo(x, y - 5);
  pen.lineTo(x + 5, y + 4);
  pen.lineTo(x - 5, y + 4);
  pen.fill();
  pen.fillStyle = palette["on-mark"];
  pen.fillRect(x - 0.6, y - 1.8, 1.2, 3);
  pen.fillRect(x - 0.6, y + 2, 1.2, 1.2);
}
