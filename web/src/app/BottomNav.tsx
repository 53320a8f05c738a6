import { Link, useLocation } from "wouter";
import { useSections, WAITING } from "./sections";
import { WaitingCount } from "./WaitingCount";

const SECTION =
  "flex flex-1 flex-col items-center justify-center gap-[3px] h-12 text-ink-3 text-xs no-underline";
const CHOSEN = "aria-[current=page]:text-ink aria-[current=page]:font-medium";

/** The sections on a narrow screen. */
export function BottomNav() {
  const [path] = useLocation();
  return (
    <nav
      className="hidden max-narrow:flex flex-none pb-[env(safe-area-inset-bottom)] border-t border-line bg-surface"
      aria-label="Sections"
    >
      {useSections().map(({ href, label, owns, Icon }) => (
        <Link
          key={href}
          className={`${SECTION} ${CHOSEN}`}
          href={href}
          aria-current={owns(path) ? "page" : undefined}
        >
          <Icon />
          <span>
            {label}
            {href === WAITING && <WaitingCount />}
          </span>
        </Link>
      ))}
    </nav>
  );
}
