import { Segmented } from "@/parts/Segmented";
import { useMedia } from "@/store/media";
import { usePreferences, type Theme } from "@/store/preferences";

const THEMES: readonly { value: Theme; label: string }[] = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

export function Appearance() {
  const { theme, change } = usePreferences();
  const isReduced = useMedia("(prefers-reduced-motion: reduce)");
  return (
    <div className="settings-scroll">
      <div className="settings-main">
        <h1>Appearance</h1>
        <p className="settings-lead">Kept in this browser.</p>
        <section className="settings-card settings-rows">
          <div>
            <span>
              <strong>Theme</strong>
              <p>“System” follows your computer, also when it changes at night.</p>
            </span>
            <Segmented
              label="Theme"
              options={THEMES}
              value={theme}
              onChange={(value) => {
                change({ theme: value });
              }}
            />
          </div>
          <div>
            <span>
              <strong>Motion</strong>
              <p>
                {isReduced
                  ? "Your system asks for less motion: nothing slides, fades or pulses here."
                  : "Folding takes 0.1 s, panes 0.2 s. Where your system asks for less motion, nothing moves."}
              </p>
            </span>
            <span className="settings-fact">{isReduced ? "reduced" : "as usual"}</span>
          </div>
        </section>
      </div>
    </div>
  );
}
