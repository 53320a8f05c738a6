/** The graph as files: SVG that needs nothing else, and PNG. */
import type { Paint, Scene, Shape } from "./scene";

export type ColourOf = (paint: Paint) => string;

const FONT = 'ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace';
const MOST_PIXELS = 16_000_000; // of a picture, so that a browser can make it

/** The colours of the theme that is shown. */
export function shownColours(): ColourOf {
  const style = getComputedStyle(document.documentElement);
  return (paint) => style.getPropertyValue(`--${paint}`).trim();
}

/** The scene as the text of an SVG file. */
export function svgOf(scene: Scene, colour: ColourOf): string {
  const { width, height } = size(scene);
  const drawn = shapesOf(scene).map((shape) => element(shape, colour));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<rect width="${width}" height="${height}" fill="${colour("surface")}"/>`,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}

/** The scene as a PNG file; twice as large as on the screen, if a browser can make that. */
export function pngOf(scene: Scene, colour: ColourOf): Promise<Blob | null> {
  const { width, height } = size(scene);
  const scale = Math.min(2, Math.sqrt(MOST_PIXELS / (width * height)));
  const canvas = document.createElement("canvas");
  canvas.width = Math.floor(width * scale);
  canvas.height = Math.floor(height * scale);
  const pen = canvas.getContext("2d");
  if (pen === null) return Promise.resolve(null);
  pen.scale(scale, scale);
  pen.fillStyle = colour("surface");
  pen.fillRect(0, 0, width, height);
  pen.lineCap = "round";
  pen.lineJoin = "round";
  for (const shape of shapesOf(scene)) draw(pen, shape, colour);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

const shapesOf = (scene: Scene): Shape[] => [...scene.edges, ...scene.nodes.flatMap((node) => node.shapes)];
const size = (scene: Scene) => ({ width: Math.ceil(scene.width), height: Math.ceil(scene.height) });

function element(shape: Shape, colour: ColourOf): string {
  if (shape.kind === "text") {
    const weight = shape.isStrong ? ' font-weight="600"' : "";
    return `<text x="${shape.x}" y="${shape.y}" fill="${colour(shape.fill)}" font-family="${escaped(FONT)}" font-size="${shape.size}"${weight}>${escaped(shape.text)}</text>`;
  }
  const fill = shape.fill === undefined ? "none" : colour(shape.fill);
  const stroke =
    shape.stroke === undefined
      ? ""
      : ` stroke="${colour(shape.stroke)}" stroke-width="${shape.width ?? 1}" stroke-linecap="round" stroke-linejoin="round"`;
  const moved = shape.x || shape.y ? ` transform="translate(${shape.x} ${shape.y})"` : "";
  return `<path d="${shape.d}" fill="${fill}"${stroke}${moved}/>`;
}

function draw(pen: CanvasRenderingContext2D, shape: Shape, colour: ColourOf): void {
  if (shape.kind === "text") {
    pen.fillStyle = colour(shape.fill);
    pen.font = `${shape.isStrong ? "600 " : ""}${shape.size}px ${FONT}`;
    pen.fillText(shape.text, shape.x, shape.y);
    return;
  }
  pen.save();
  pen.translate(shape.x, shape.y);
  const path = new Path2D(shape.d);
  if (shape.fill !== undefined) {
    pen.fillStyle = colour(shape.fill);
    pen.fill(path);
  }
  if (shape.stroke !== undefined) {
    pen.strokeStyle = colour(shape.stroke);
    pen.lineWidth = shape.width ?? 1;
    pen.stroke(path);
  }
  pen.restore();
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
// Characters that XML does not allow, not even escaped, are left out.
// eslint-disable-next-line no-control-regex -- these are what is meant
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
const escaped = (text: string): string =>
  text.replace(FORBIDDEN, "").replace(/[&<>"]/g, (character) => ESCAPES[character] ?? character);
