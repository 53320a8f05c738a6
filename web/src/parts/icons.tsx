/** The icons: strokes of the text's colour on a 16-pixel grid. They are decoration; words or labels stand beside them. */
import type { ReactNode, SVGProps } from "react";

export type IconProps = Omit<SVGProps<SVGSVGElement>, "children"> & { size?: number };

function icon(name: string, drawing: ReactNode) {
  function Icon({ size = 16, ...rest }: IconProps) {
    return (
      <svg
        aria-hidden="true"
        width={size}
        height={size}
        viewBox="0 0 16 16"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
        {...rest}
      >
        {drawing}
      </svg>
    );
  }
  Icon.displayName = name;
  return Icon;
}

export const ArrowUpIcon = icon("ArrowUpIcon", <path d="M8 13V3M4 7l4-4 4 4" />);
export const ChatIcon = icon("ChatIcon", <path d="M2.5 3h11v8H7l-3 2.5V11H2.5z" />);
export const SearchIcon = icon(
  "SearchIcon",
  <path d="M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.5 10.5 14 14" />,
);
export const TreeIcon = icon("TreeIcon", <path d="M3.5 3v9.5H8M3.5 6H8M10 4h3v3h-3zM10 11h3v3h-3z" />);
export const ListIcon = icon("ListIcon", <path d="M2.5 4h9M2.5 8h11M2.5 12h7" />);
export const BarsIcon = icon("BarsIcon", <path d="M3 13V9M8 13V3M13 13V6" strokeWidth="2" />);
export const ThumbIcon = icon(
  "ThumbIcon",
  <path d="M5 7v6H2.5V7zM5 7l2.6-4.5c.8 0 1.4.6 1.4 1.4v2.6h3.3c.8 0 1.4.7 1.2 1.5l-.9 3.9c-.1.6-.7 1.1-1.3 1.1H5" />,
);
export const SlidersIcon = icon("SlidersIcon", <path d="M2 5h7M13 5h1M2 11h1M7 11h7M11 3.5v3M5 9.5v3" />);
export const ChevronRightIcon = icon("ChevronRightIcon", <path d="m6 3.5 4.5 4.5L6 12.5" />);
export const ChevronLeftIcon = icon("ChevronLeftIcon", <path d="M10 3.5 5.5 8l4.5 4.5" />);
export const ChevronDownIcon = icon("ChevronDownIcon", <path d="m3.5 6 4.5 4.5L12.5 6" />);
export const FirstIcon = icon("FirstIcon", <path d="M4 3.5v9M11.5 3.5 7 8l4.5 4.5" />);
export const LastIcon = icon("LastIcon", <path d="M12 3.5v9M4.5 3.5 9 8l-4.5 4.5" />);
export const PlayIcon = icon("PlayIcon", <path d="M5 3v10l8-5z" fill="currentColor" stroke="none" />);
export const PauseIcon = icon("PauseIcon", <path d="M5.5 3.5v9M10.5 3.5v9" strokeWidth="2" />);
export const StopIcon = icon(
  "StopIcon",
  <rect x="4" y="4" width="8" height="8" rx="1" fill="currentColor" stroke="none" />,
);
export const FileIcon = icon("FileIcon", <path d="M4 1.5h5L12.5 5v9.5h-8.5zM9 1.5V5h3.5" />);
export const PaperclipIcon = icon(
  "PaperclipIcon",
  <path d="m13 7.5-5.2 5.2a3 3 0 0 1-4.3-4.3l5.6-5.6a2 2 0 0 1 2.9 2.9L6.6 11a1 1 0 0 1-1.4-1.4L9.7 5" />,
);
export const CloseIcon = icon("CloseIcon", <path d="m4 4 8 8M12 4l-8 8" />);
export const MoreIcon = icon("MoreIcon", <path d="M3 8h.01M8 8h.01M13 8h.01" strokeWidth="2.5" />);
export const EditIcon = icon("EditIcon", <path d="M3 13v-2.5l7.5-7.5L13 5.5 5.5 13z" />);
export const TrashIcon = icon("TrashIcon", <path d="M3 4.5h10M6 4V2.5h4V4M4.5 4.5l.5 9h6l.5-9" />);
export const RetryIcon = icon("RetryIcon", <path d="M13 8a5 5 0 1 1-1.5-3.6M13 2v3h-3" />);
export const PersonIcon = icon(
  "PersonIcon",
  <path d="M8 8a2.75 2.75 0 1 0 0-5.5A2.75 2.75 0 0 0 8 8ZM2.5 14a5.5 5.5 0 0 1 11 0" />,
);
export const GraphIcon = icon(
  "GraphIcon",
  <path d="M6 2h4v3H6zM2 11h4v3H2zM10 11h4v3h-4zM8 5v3M4 11V8h8v3" />,
);
export const PlusIcon = icon("PlusIcon", <path d="M8 3v10M3 8h10" />);
export const MenuIcon = icon("MenuIcon", <path d="M2 4h12M2 8h12M2 12h12" />);

/** The product's mark. */
export function Logo({ size = 20 }: { size?: number }) {
  return (
    <svg aria-hidden="true" width={size} height={size} viewBox="0 0 20 20">
      <rect width="20" height="20" rx="5" fill="var(--ink)" />
      <path d="M6 6v7.5h4M6 8.5h4" fill="none" stroke="var(--on-ink)" strokeWidth="1.4" />
      <circle cx="6" cy="5.3" r="1.7" fill="var(--on-ink)" />
      <rect x="10" y="6.6" width="4.6" height="3.8" rx="1" fill="var(--on-ink)" />
      <rect x="10" y="11.6" width="4.6" height="3.8" rx="1" fill="var(--on-ink)" />
    </svg>
  );
}
