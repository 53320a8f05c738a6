import { Segmented } from "@/parts/Segmented";
import { useMedia } from "@/store/media";
import { usePreferences, type Theme } from "@/store/preferences";
import { Card, Fact, Section, Setting } from "./Section";

const THEMES: readonly { value: Theme; label: string }[] = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

export function Appearance() {
  const { theme, change } = usePreferences();
  const isReduced = useMedia("(prefers-reduced-motion: reduce)");
  return (
    <Section title="Appearance" lead="Kept in this browser.">
      <Card>
        <Setting name={<strong>Theme</strong>} text="“System” follows the theme of your computer.">
          <Segmented
            label="Theme"
            options={THEMES}
            value={theme}
            onChange={(value) => change({ theme: value })}
          />
        </Setting>
        <Setting
          name={<strong>Motion</strong>}
          text={
            isReduced
              ? "Your system asks for less motion: nothing slides, fades or pulses here."
              : "Folding takes 0.1 s, panes 0.2 s. Where your system asks for less motion, nothing moves."
          }
        >
          <Fact>{isReduced ? "reduced" : "as usual"}</Fact>
        </Setting>
      </Card>
    </Section>
  );
}
