/** The four sections of the console. */
import { ArrowUpIcon, ListIcon, SlidersIcon, TreeIcon } from "@/parts/icons";

export const SECTIONS = [
  {
    href: "/",
    label: "Chat",
    Icon: ArrowUpIcon,
    owns: (path: string) => path === "/" || path.startsWith("/chat"),
  },
  {
    href: "/runs",
    label: "Runs",
    Icon: ListIcon,
    owns: (path: string) => /^\/(runs|compare|shadow)/.test(path),
  },
  { href: "/trees", label: "Trees", Icon: TreeIcon, owns: (path: string) => path.startsWith("/trees") },
  {
    href: "/settings",
    label: "Settings",
    Icon: SlidersIcon,
    owns: (path: string) => path.startsWith("/settings"),
  },
] as const;
