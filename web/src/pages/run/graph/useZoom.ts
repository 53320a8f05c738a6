/** Moves and scales a drawing: drag, wheel, buttons. */
import { useEffect, useRef, useState, type PointerEvent, type RefObject } from "react";

export interface Zoom {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

const LEAST = 0.15;
const MOST = 2.5;
const CLICK_PX = 4;
const MARGIN = 16;

interface Size {
  readonly width: number;
  readonly height: number;
}

type Part = Omit<Zoom, "scale"> & Size;

const LEAST_READ = 0.75;

/** What has both parts, and a margin. */
function around(one: Part, other: Part): Part {
  const [x, y] = [Math.min(one.x, other.x) - MARGIN, Math.min(one.y, other.y) - MARGIN];
  const right = Math.max(one.x + one.width, other.x + other.width) + MARGIN;
  const bottom = Math.max(one.y + one.height, other.y + other.height) + MARGIN;
  return { x, y, width: right - x, height: bottom - y };
}

/** Where a drawing begins in a frame, so that one of its places is in the middle and nothing beside it stays empty. */
export const offset = (room: number, length: number, middle: number): number =>
  length <= room ? (room - length) / 2 : Math.max(room - length, Math.min(0, room / 2 - middle));

export function useZoom(frame: RefObject<Element | null>, drawing: Size) {
  const [zoom, setZoom] = useState<Zoom | null>(null);
  const from = useRef<{ x: number; y: number; zoom: Zoom; moved: boolean } | null>(null);

  const fitted = (): Zoom => {
    const box = frame.current?.getBoundingClientRect();
    if (!box || drawing.width === 0) return { x: 0, y: 0, scale: 1 };
    const scale = Math.max(0.5, Math.min(1, box.width / drawing.width, box.height / drawing.height));
    return {
      x: Math.max(0, (box.width - drawing.width * scale) / 2),
      y: Math.max(0, (box.height - drawing.height * scale) / 2),
      scale,
    };
  };
  const scaleBy = (factor: number, at?: { x: number; y: number }): void =>
    setZoom((before) => {
      const now = before ?? fitted();
      const box = frame.current?.getBoundingClientRect();
      const [x, y] = at
        ? [at.x - (box?.left ?? 0), at.y - (box?.top ?? 0)]
        : [(box?.width ?? 0) / 2, (box?.height ?? 0) / 2];
      const scale = Math.max(LEAST, Math.min(MOST, now.scale * factor));
      const ratio = scale / now.scale;
      return { x: x - (x - now.x) * ratio, y: y - (y - now.y) * ratio, scale };
    });

  const latest = useRef(scaleBy);
  useEffect(() => {
    latest.current = scaleBy;
  });
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const turn = (event: Event): void => {
      if (!(event instanceof WheelEvent)) return;
      event.preventDefault();
      if (event.ctrlKey || event.metaKey || event.deltaMode !== 0)
        latest.current(Math.exp(-event.deltaY / 300), { x: event.clientX, y: event.clientY });
      else
        setZoom((before) => before && { ...before, x: before.x - event.deltaX, y: before.y - event.deltaY });
    };
    element.addEventListener("wheel", turn, { passive: false });
    return () => element.removeEventListener("wheel", turn);
  }, [frame]);

  return {
    zoom,
    /** Show the whole drawing, or its beginning at half size. */
    fit: () => setZoom(fitted()),
    /**
     * Bring a part of the drawing to the middle, as far as the drawing reaches, unless it is in view.
     *
     * At first from the root on, as far as that can be read.
     */
    reveal: (wanted: Part, root: Part) =>
      setZoom((before) => {
        const box = frame.current?.getBoundingClientRect();
        const [width, height] = [box?.width ?? 0, box?.height ?? 0];
        const whole = around(wanted, root);
        const most = Math.min(0.9, width / whole.width, height / whole.height);
        const part = before !== null ? wanted : most < LEAST_READ ? root : whole;
        const scale = before?.scale ?? Math.max(most, LEAST_READ, fitted().scale);
        const left = (before?.x ?? -Infinity) + part.x * scale;
        const top = (before?.y ?? -Infinity) + part.y * scale;
        const isSeen =
          left >= 0 && left + part.width * scale <= width && top >= 0 && top + part.height * scale <= height;
        if (isSeen) return before;
        return {
          x: offset(width, drawing.width * scale, (part.x + part.width / 2) * scale),
          y: offset(height, drawing.height * scale, (part.y + part.height / 2) * scale),
          scale,
        };
      }),
    scaleBy,
    dragging: {
      onPointerDown: (event: PointerEvent) => {
        if (event.button === 0)
          from.current = { x: event.clientX, y: event.clientY, zoom: zoom ?? fitted(), moved: false };
      },
      onPointerMove: (event: PointerEvent) => {
        const start = from.current;
        if (start === null) return;
        const [dx, dy] = [event.clientX - start.x, event.clientY - start.y];
        if (!start.moved && Math.hypot(dx, dy) < CLICK_PX) return;
        if (!start.moved) event.currentTarget.setPointerCapture(event.pointerId);
        start.moved = true;
        setZoom({ ...start.zoom, x: start.zoom.x + dx, y: start.zoom.y + dy });
      },
      onPointerUp: () => {
        from.current = null;
      },
    },
  };
}
