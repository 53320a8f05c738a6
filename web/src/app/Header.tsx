import { Link, useLocation } from "wouter";
import { useMe } from "@/api/queries";
import { Kbd } from "@/parts/Kbd";
import { Logo, SearchIcon } from "@/parts/icons";
import { useSession, type Connection } from "@/store/session";
import { SECTIONS } from "./sections";
import "./Header.css";

const STATES: Record<Connection, string> = {
  connected: "Connected",
  reconnecting: "Reconnecting",
  offline: "Offline",
};

export function Header({ onPalette }: { onPalette: () => void }) {
  const [path] = useLocation();
  const connection = useSession((state) => state.connection);
  const { data: me } = useMe();
  return (
    <header className="header">
      <Link className="header-brand" href="/">
        <Logo />
        <span>Oracle</span>
      </Link>
      <nav className="header-nav" aria-label="Sections">
        {SECTIONS.map(({ href, label, owns }) => (
          <Link key={href} href={href} aria-current={owns(path) ? "page" : undefined}>
            {label}
          </Link>
        ))}
      </nav>
      <button
        type="button"
        className="header-search"
        onClick={onPalette}
        aria-keyshortcuts="Meta+K Control+K"
      >
        <SearchIcon size={14} />
        <span>Go to run, tree, node…</span>
        <Kbd keys="mod+k" />
      </button>
      <span className={`header-state header-${connection}`} role="status">
        {STATES[connection]}
      </span>
      {me && (
        <Link
          className="header-user"
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
