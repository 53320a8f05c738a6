import { Link, useLocation } from "wouter";
import { SECTIONS } from "./sections";
import "./BottomNav.css";

/** The sections on a narrow screen. */
export function BottomNav() {
  const [path] = useLocation();
  return (
    <nav className="bottom-nav" aria-label="Sections">
      {SECTIONS.map(({ href, label, owns, Icon }) => (
        <Link key={href} href={href} aria-current={owns(path) ? "page" : undefined}>
          <Icon />
          {label}
        </Link>
      ))}
    </nav>
  );
}
