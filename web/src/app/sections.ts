/** The sections of the console. */
import { useMe } from "@/api/queries";
import { BarsIcon, ChatIcon, ListIcon, PersonIcon, SlidersIcon, TreeIcon } from "@/parts/icons";

/** Where what waits for people is counted. */
export const WAITING = "/waiting";

const SECTIONS = [
  {
    href: "/",
    label: "Chat",
    Icon: ChatIcon,
    owns: (path: string) => path === "/" || path.startsWith("/chat"),
  },
  {
    href: "/runs",
    label: "Runs",
    Icon: ListIcon,
    owns: (path: string) => /^\/(runs|compare|shadow)/.test(path),
  },
  {
    href: WAITING,
    label: "Waiting",
    Icon: PersonIcon,
    owns: (path: string) => path.startsWith(WAITING),
  },
  { href: "/trees", label: "Trees", Icon: TreeIcon, owns: (path: string) => path.startsWith("/trees") },
  {
    href: "/usage",
    label: "Usage",
    Icon: BarsIcon,
    owns: (path: string) => path.startsWith("/usage"),
    feature: "usage",
  },
  {
    href: "/settings",
    label: "Settings",
    Icon: SlidersIcon,
    owns: (path: string) => path.startsWith("/settings"),
  },
] as const;

/** The sections whose feature the service has. */
export function useSections() {
  const features = useMe().data?.features;
  return SECTIONS.filter(
    (section) => !("feature" in section) || (features?.includes(section.feature) ?? true),
  );
}
