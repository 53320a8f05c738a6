/** Settings: limits, appearance, keys, account, and for operators the tools of MCP servers. The section is in the address: `/settings#keys`. */
import type { ComponentType } from "react";
import { useLocationProperty } from "wouter/use-browser-location";
import { useMe } from "@/api/queries";
import { useTitle } from "@/store/title";
import { Account } from "./Account";
import { Appearance } from "./Appearance";
import { Keys } from "./Keys";
import { Limits } from "./Limits";
import { Tools } from "./Tools";

interface SettingsSection {
  hash: string;
  label: string;
  Section: ComponentType;
  isForOperators?: true;
  /** Without it there is nothing to show. */
  feature?: string;
}

const SECTIONS: readonly [SettingsSection, ...SettingsSection[]] = [
  { hash: "limits", label: "Limits", Section: Limits },
  { hash: "appearance", label: "Appearance", Section: Appearance },
  { hash: "keys", label: "Keys", Section: Keys },
  { hash: "account", label: "Account", Section: Account },
  { hash: "tools", label: "Tools", Section: Tools, isForOperators: true, feature: "mcp-client" },
];

const LINK = "py-1 px-2.5 rounded-md text-ink-2 font-medium no-underline max-[900px]:py-2";
const STATES = "hover:bg-surface-2 aria-[current]:bg-surface-3 aria-[current]:text-ink";

export default function Settings() {
  const hash = useLocationProperty(() => location.hash.slice(1));
  const me = useMe().data;
  const sections = SECTIONS.filter(
    ({ isForOperators, feature }) =>
      (!isForOperators || me?.is_operator) && (feature === undefined || me?.features.includes(feature)),
  );
  const found = sections.findIndex((section) => section.hash === hash);
  const at = Math.max(0, found);
  const { label, Section } = sections[at] ?? SECTIONS[0];
  useTitle(`${label} · Settings`);
  return (
    <div className="relative h-full max-[900px]:flex max-[900px]:flex-col">
      <nav
        className="absolute z-1 top-5 left-8 flex flex-col w-29 max-[900px]:static max-[900px]:flex-none max-[900px]:flex-row max-[900px]:gap-0.5 max-[900px]:w-auto max-[900px]:pt-2 max-[900px]:px-3 max-[900px]:pb-0 max-[900px]:overflow-x-auto"
        aria-label="Settings"
      >
        {sections.map((section, index) => (
          <a
            key={section.hash}
            className={`${LINK} ${STATES}`}
            href={`#${section.hash}`}
            aria-current={index === at ? "page" : undefined}
          >
            {section.label}
          </a>
        ))}
      </nav>
      <div className="flex flex-col h-full max-[900px]:flex-1 max-[900px]:min-h-0">
        <Section />
      </div>
    </div>
  );
}
