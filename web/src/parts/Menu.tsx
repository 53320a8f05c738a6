import { useId, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";

export interface MenuItem {
  label: ReactNode;
  onSelect: () => void;
  /** For choices: whether this one is chosen. */
  checked?: boolean;
  detail?: ReactNode;
  isDisabled?: boolean;
  tone?: "danger";
}

interface MenuProps {
  /** Makes the button; the props open the menu. */
  button: (props: MenuButtonProps) => ReactNode;
  label: string;
  items: readonly MenuItem[];
  align?: "start" | "end";
  /** Where it opens. */
  side?: "below" | "above";
}

export interface MenuButtonProps {
  "aria-haspopup": "menu";
  "aria-expanded": boolean;
  "aria-controls": string;
  onClick: () => void;
}

const PLACES = {
  start: "left-0",
  end: "right-0",
  below: "top-[calc(100%_+_4px)]",
  above: "bottom-[calc(100%_+_4px)]",
};

const ITEM =
  "menu-item flex flex-col w-full py-1.25 px-2 border-0 rounded-sm bg-transparent text-left hover:enabled:bg-surface-3 focus-visible:bg-surface-3 aria-checked:font-strong disabled:opacity-45 pointer-coarse:justify-center pointer-coarse:min-h-11";

/** A menu below its button. Arrow keys move, Escape closes. */
export function Menu({ button, label, items, align = "start", side = "below" }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    if (!isOpen) return;
    const list = root.current?.querySelectorAll<HTMLElement>(".menu-item:not(:disabled)");
    ([...(list ?? [])].find((item) => item.ariaChecked === "true") ?? list?.[0])?.focus();
    const leave = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", leave);
    return () => document.removeEventListener("pointerdown", leave);
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    root.current?.querySelector<HTMLElement>("[aria-haspopup]")?.focus();
  };
  const move = (event: KeyboardEvent) => {
    const shown = [...(root.current?.querySelectorAll<HTMLElement>(".menu-item:not(:disabled)") ?? [])];
    const at = shown.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + shown.length, Home: 0, End: shown.length - 1 }[
      event.key
    ];
    if (event.key === "Escape") close();
    else if (event.key === "Tab") setOpen(false);
    else if (to !== undefined) shown[to % shown.length]?.focus();
    else return;
    if (event.key === "Tab") return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="menu relative inline-flex" ref={root}>
      {button({
        "aria-haspopup": "menu",
        "aria-expanded": isOpen,
        "aria-controls": id,
        onClick: () => setOpen(!isOpen),
      })}
      {isOpen && (
        <div
          className={`absolute z-30 min-w-45 max-w-[min(380px,calc(100vw_-_24px))] max-h-[60vh] overflow-auto p-1 border border-line-2 rounded-md bg-overlay shadow-overlay ${PLACES[align]} ${PLACES[side]}`}
          id={id}
          role="menu"
          tabIndex={-1}
          aria-label={label}
          onKeyDown={move}
        >
          {items.map((item, index) => (
            <button
              key={index}
              type="button"
              className={`${ITEM} ${item.tone ? "text-err" : ""}`}
              role={item.checked === undefined ? "menuitem" : "menuitemradio"}
              aria-checked={item.checked}
              disabled={item.isDisabled}
              onClick={() => {
                close();
                item.onSelect();
              }}
            >
              <span>{item.label}</span>
              {item.detail !== undefined && (
                <span className="text-ink-3 text-sm font-regular">{item.detail}</span>
              )}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
