/**
 * The keyboard map. A combination is written `d`, `?`, `ArrowLeft`, `shift+ArrowLeft`, `mod+k` (⌘ on Apple's systems, Ctrl elsewhere).
 *
 * Single keys rest in text fields, and can be switched off; those with `mod`, `Escape` and function keys always work.
 * The handler that was registered last is asked first, so that a dialog precedes its page.
 */
import { useLayoutEffect, useRef } from "react";
import { usePreferences } from "./preferences";

export type Handler = (event: KeyboardEvent) => unknown;
/** By combination. A handler that returns false leaves the key to those before it, and to the browser. */
export type KeyMap = Readonly<Record<string, Handler>>;

export const isApple = /mac|iphone|ipad/i.test(navigator.userAgent);

/** The combination of an event. Shift counts with named keys alone: `?` is `?`, whatever has to be held for it. */
export function combination(event: KeyboardEvent): string {
  const named = event.key.length > 1;
  const key = named ? event.key : event.key.toLowerCase();
  const mod = isApple ? event.metaKey : event.ctrlKey;
  return [
    mod && "mod+",
    event.altKey && "alt+",
    event.shiftKey && (named || mod || isLetter(key)) && "shift+",
    key,
  ]
    .filter(Boolean)
    .join("");
}

const isLetter = (key: string) => key.toLowerCase() !== key.toUpperCase();

/** Text is typed here: letters belong to it. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  )
    return true;
  return (
    target instanceof HTMLInputElement &&
    !["button", "checkbox", "radio", "submit", "reset"].includes(target.type)
  );
}

const maps: { current: KeyMap }[] = [];

function press(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  if (document.querySelector("dialog[open]") !== null) return; // what lies below an open dialog rests
  const pressed = combination(event);
  const always = pressed.startsWith("mod+") || event.key === "Escape" || /^F\d+$/.test(event.key);
  if (!always && (isTyping(event.target) || !usePreferences.getState().singleKeys)) return;
  for (const map of maps.toReversed()) {
    const handler = map.current[pressed];
    if (handler && handler(event) !== false) {
      event.preventDefault();
      return;
    }
  }
}

/**
 * Keep keys from the page until what they are meant for is there. `Escape` gives it up; combinations with Ctrl, Alt or ⌘ and
 * function keys stay those of the page and of the browser.
 */
export function useHeldKeys(isHeld: boolean, onEscape: () => void): void {
  const escape = useRef(onEscape);
  useLayoutEffect(() => {
    escape.current = onEscape;
  });
  useLayoutEffect(() => {
    if (!isHeld) return;
    const hold = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || /^F\d+$/.test(event.key)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (event.key === "Escape") escape.current();
    };
    window.addEventListener("keydown", hold, { capture: true });
    return () => {
      window.removeEventListener("keydown", hold, { capture: true });
    };
  }, [isHeld]);
}

/** Listen to keys as long as the component is shown. With what is drawn: a key that follows acts on what is seen. */
export function useKeys(map: KeyMap): void {
  const latest = useRef(map);
  useLayoutEffect(() => {
    latest.current = map;
  });
  useLayoutEffect(() => {
    if (maps.length === 0) document.addEventListener("keydown", press);
    maps.push(latest);
    return () => {
      maps.splice(maps.indexOf(latest), 1);
      if (maps.length === 0) document.removeEventListener("keydown", press);
    };
  }, []);
}
