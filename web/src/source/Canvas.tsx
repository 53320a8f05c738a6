import { useLayoutEffect, useRef, type ComponentProps } from "react";
import { penOf, type Pen } from "./pen";

interface CanvasProps extends Omit<ComponentProps<"canvas">, "ref" | "width" | "height"> {
  width: number;
  height: number;
  draw: (pen: Pen) => void;
}

/** A canvas that is drawn again each time it is rendered. What it shows stands elsewhere as text. */
export function Canvas({ width, height, draw, ...rest }: CanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const pen = canvas.current === null ? null : penOf(canvas.current, width, height);
    if (pen !== null) draw(pen);
  });
  return <canvas ref={canvas} aria-hidden="true" {...rest} />;
}
