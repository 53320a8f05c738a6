import { useId, type KeyboardEvent, type ReactNode } from "react";

interface Tab<Name extends string> {
  name: Name;
  label: ReactNode;
  /** How much is in it; 0 and undefined are not shown. */
  count?: number | undefined;
  panel: ReactNode;
}

interface TabsProps<Name extends string> {
  label: string;
  tabs: readonly Tab<Name>[];
  selected: Name;
  onSelect: (name: Name) => void;
}

const TAB =
  "h-9 border-0 border-b-2 border-transparent bg-transparent text-ink-2 font-medium whitespace-nowrap";
const STATES = "hover:text-ink focus-visible:-outline-offset-3";
const CHOSEN = "aria-selected:border-ink aria-selected:text-ink aria-selected:font-strong";

/** Tabs with their panel. Arrow keys move, as the pattern of ARIA has it. */
export function Tabs<Name extends string>({ label, tabs, selected, onSelect }: TabsProps<Name>) {
  const id = useId();
  const at = Math.max(
    0,
    tabs.findIndex((tab) => tab.name === selected),
  );
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -at, End: tabs.length - 1 - at }[event.key];
    const next = step === undefined ? undefined : tabs[(at + step + tabs.length) % tabs.length];
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    onSelect(next.name);
    document.getElementById(`${id}-${next.name}`)?.focus();
  };
  return (
    <div className="flex flex-col min-h-0 flex-1">
      {/* eslint-disable-next-line jsx-a11y/interactive-supports-focus -- the tabs themselves are focused */}
      <div
        className="flex flex-none gap-0.5 px-2 border-b border-line overflow-x-auto [scrollbar-width:none]"
        role="tablist"
        aria-label={label}
        onKeyDown={move}
      >
        {tabs.map((tab, index) => (
          <button
            key={tab.name}
            id={`${id}-${tab.name}`}
            type="button"
            className={`tab py-0 px-2 pointer-coarse:h-11 ${TAB} ${STATES} ${CHOSEN}`}
            role="tab"
            aria-selected={index === at}
            aria-controls={`${id}-panel`}
            tabIndex={index === at ? 0 : -1}
            onClick={() => onSelect(tab.name)}
          >
            {tab.label}
            {!!tab.count && (
              <span className="ml-[5px] px-1.5 rounded-[8px] bg-surface-3 text-xs leading-tight">
                {tab.count}
              </span>
            )}
          </button>
        ))}
      </div>
      <div
        className="tabs-panel flex-1 min-h-0 overflow-auto focus-visible:-outline-offset-2"
        id={`${id}-panel`}
        role="tabpanel"
        aria-labelledby={`${id}-${tabs[at]?.name ?? ""}`}
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a panel that scrolls is reached by keyboard
        tabIndex={0}
      >
        {tabs[at]?.panel}
      </div>
    </div>
  );
}
