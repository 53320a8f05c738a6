import { useRef, type PointerEvent } from "react";

interface Scrub {
  onPointerDown: (event: PointerEvent<HTMLElement>) => void;
  onPointerMove: (event: PointerEvent<HTMLElement>) => void;
}

/** Handlers for an element on which a press or a drag chooses a tick. */
export function useScrub(tickAt: (x: number) => number, onSelectTick: (at: number) => void): Scrub {
  const chosen = useRef(-1);
  const choose = (event: PointerEvent<HTMLElement>): void => {
    const at = tickAt(event.clientX - event.currentTarget.getBoundingClientRect().left);
    if (at < 0 || at === chosen.current) return;
    chosen.current = at;
    onSelectTick(at);
  };
  return {
    onPointerDown: (event) => {
      if (event.button !== 0) return;
      chosen.current = -1;
      event.currentTarget.setPointerCapture(event.pointerId);
      choose(event);
    },
    onPointerMove: (event) => {
      if ((event.buttons & 1) !== 0) choose(event);
    },
  };
}
