import { useEffect, useRef, useState, type RefObject } from "react";

/** Whether an element has come into view, or near it. */
export function useSeen(): [ref: RefObject<HTMLElement | null>, wasSeen: boolean] {
  const ref = useRef<HTMLElement>(null);
  const [wasSeen, setSeen] = useState(false);
  useEffect(() => {
    if (wasSeen || !ref.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
      },
      { rootMargin: "600px" },
    );
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, [wasSeen]);
  return [ref, wasSeen];
}
