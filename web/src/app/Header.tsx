import { Link, useLocation } from "wouter";
import { useMe } from "@/api/queries";
import { Kbd } from "@/parts/Kbd";
import { Logo, SearchIcon } from "@/parts/icons";
import { useSession, type Connection } from "@/store/session";
import { useSections, WAITING } from "./sections";
import { WaitingCount } from "./WaitingCount";

const STATES: Record<Connection, readonly [words: string, light: string]> = {
  connected: ["Connected", "before:bg-ok-fill"],
  reconnecting: ["Reconnecting", "before:bg-warn-fill"],
  offline: ["Offline", "before:bg-err-fill"],
};

const LIGHT = "before:inline-block before:size-[7px] before:mr-1.5 before:rounded-full before:content-['']";
const TOUCHED = "pointer-coarse:flex pointer-coarse:items-center pointer-coarse:min-h-11";
const SECTION = "py-1 px-2.5 rounded-md text-ink-2 font-medium no-underline hover:text-ink";
const CHOSEN = "aria-[current=page]:bg-surface-2 aria-[current=page]:text-ink";
const SEARCH =
  "flex items-center gap-2 w-58 h-7 ml-auto py-0 pr-1.5 pl-2.5 max-[900px]:w-auto border border-line rounded-md text-left";
const USER = "grid size-6 place-items-center rounded-full bg-surface-3 text-xs font-strong no-underline";
const WIDER = "pointer-coarse:relative pointer-coarse:after:absolute pointer-coarse:after:-inset-2.5";

export function Header({ onPalette }: { onPalette: () => void }) {
  const [path] = useLocation();
  const connection = useSession((state) => state.connection);
  const { data: me } = useMe();
  return (
    <header className="header max-narrow:[.app:has(.run)>&]:hidden flex flex-none items-center gap-3 h-11 pr-3 pl-3.5 border-b border-line bg-surface">
      <Link className={`flex items-center gap-2 mr-1.5 font-strong no-underline ${TOUCHED}`} href="/">
        <Logo />
        <span>Oracle</span>
      </Link>
      <nav className="flex gap-0 max-narrow:hidden" aria-label="Sections">
        {useSections().map(({ href, label, owns }) => (
          <Link
            key={href}
            className={`${SECTION} ${CHOSEN} ${TOUCHED}`}
            href={href}
            aria-current={owns(path) ? "page" : undefined}
          >
            {label}
            {href === WAITING && <WaitingCount />}
          </Link>
        ))}
      </nav>
      <button
        type="button"
        className={`${SEARCH} bg-surface-2 text-ink-3 max-narrow:hidden`}
        onClick={onPalette}
        aria-keyshortcuts="Meta+K Control+K"
      >
        <SearchIcon size={14} />
        <span className="truncate flex-1 max-[900px]:sr-only">Go to run or tree…</span>
        <Kbd keys="mod+k" />
      </button>
      <span
        className={`text-ink-3 text-sm max-narrow:ml-auto ${LIGHT} ${STATES[connection][1]}`}
        role="status"
      >
        {STATES[connection][0]}
      </span>
      {me && (
        <Link
          className={`${USER} ${WIDER}`}
          href="/settings#account"
          aria-label={`Account of ${me.user_id}`}
          title={me.user_id}
        >
          {me.user_id.slice(0, 1).toUpperCase()}
        </Link>
      )}
    </header>
  );
}
