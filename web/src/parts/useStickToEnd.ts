import { useCallback, useEffect, useRef, useState, type RefCallback } from "react";

const NEAR = 48; // pixels from the end that count as the end

interface StickToEnd {
  scroller: RefCallback<HTMLElement>;
  content: RefCallback<HTMLElement>;
  /** The end is in view, and stays in view as the content grows. */
  isAtEnd: boolean;
  toEnd: () => void;
}

/** Keeps the end of a growing content in view, unless the reader has scrolled away from it, or unfolds a part. */
export function useStickToEnd(): StickToEnd {
  const [view, scroller] = useState<HTMLElement | null>(null);
  const [grown, content] = useState<HTMLElement | null>(null);
  const sticks = useRef(true);
  const [isAtEnd, setAtEnd] = useState(true);
  const toEnd = useCallback(() => {
    sticks.current = true;
    setAtEnd(true);
    view?.scrollTo({ top: view.scrollHeight });
  }, [view]);
  useEffect(() => {
    if (!view || !grown) return;
    let before = view.scrollTop;
    const look = () => {
      const isNear = view.scrollHeight - view.scrollTop - view.clientHeight < NEAR;
      // Growing content is no scrolling: only a move upwards leaves the end.
      if (isNear) sticks.current = true;
      else if (view.scrollTop < before) sticks.current = false;
      before = view.scrollTop;
      setAtEnd(sticks.current);
    };
    const observer = new ResizeObserver(() => {
      if (sticks.current) view.scrollTo({ top: view.scrollHeight });
    });
    const unfold = ({ target }: MouseEvent) => {
      const summary = target instanceof Element ? target.closest("summary") : null;
      if (summary?.parentElement?.hasAttribute("open") === false) sticks.current = false;
    };
    observer.observe(grown);
    observer.observe(view);
    view.addEventListener("scroll", look, { passive: true });
    grown.addEventListener("click", unfold);
    return () => {
      grown.removeEventListener("click", unfold);
      observer.disconnect();
      view.removeEventListener("scroll", look);
    };
  }, [view, grown]);
  return { scroller, content, isAtEnd, toEnd };
}
