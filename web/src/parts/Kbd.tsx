import { isApple } from "@/store/keys";
import "./Kbd.css";

const NAMES: Record<string, string> = {
  mod: isApple ? "⌘" : "Ctrl",
  shift: "⇧",
  alt: isApple ? "⌥" : "Alt",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Enter: "↵",
  Escape: "Esc",
  " ": "Space",
};

/** How the keys of a combination are written here: `⌘K` or `Ctrl K`. */
export function keysText(keys: string): string {
  const parts = keys.split("+").map((part) => NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part));
  return parts.join(isApple || parts.every((part) => part.length === 1) ? "" : " ");
}

/** The keys of a combination; decoration, for the map of all keys says them. */
export function Kbd({ keys }: { keys: string }) {
  return (
    <kbd className="kbd" aria-hidden="true">
      {keysText(keys)}
    </kbd>
  );
}
