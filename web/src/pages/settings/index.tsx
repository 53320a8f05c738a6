/** Settings: limits, appearance, keys, account. The section is in the address: `/settings#keys`. */
import type { ComponentType } from "react";
import { useLocationProperty } from "wouter/use-browser-location";
import { useTitle } from "@/store/title";
import { Account } from "./Account";
import { Appearance } from "./Appearance";
import { Keys } from "./Keys";
import { Limits } from "./Limits";
import "./settings.css";

interface SettingsSection {
  hash: string;
  label: string;
  Section: ComponentType;
}

const SECTIONS: readonly [SettingsSection, ...SettingsSection[]] = [
  { hash: "limits", label: "Limits", Section: Limits },
  { hash: "appearance", label: "Appearance", Section: Appearance },
  { hash: "keys", label: "Keys", Section: Keys },
  { hash: "account", label: "Account", Section: Account },
];

export default function Settings() {
  const hash = useLocationProperty(() => location.hash.slice(1));
  const found = SECTIONS.findIndex((section) => section.hash === hash);
  const at = Math.max(0, found);
  const { label, Section } = SECTIONS[at] ?? SECTIONS[0];
  useTitle(`${label} · Settings`);
  return (
    <div className="settings">
      <nav className="settings-nav" aria-label="Settings">
        {SECTIONS.map((section, index) => (
          <a key={section.hash} href={`#${section.hash}`} aria-current={index === at ? "page" : undefined}>
            {section.label}
          </a>
        ))}
      </nav>
      <div className="settings-page">
        <Section />
      </div>
    </div>
  );
}
