import { useRef, useState } from "react";
import { FIRST_VIEW } from "@/pages/run/address";
import { RunView } from "@/pages/run/RunView";
import { Button } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";
import { KeyMapTable } from "@/parts/KeyMapTable";
import { Toasts } from "@/parts/Toast";
import type { SourceHandle } from "@/source";
import { useKeys } from "@/store/keys";
import { shownTheme, usePreferences } from "@/store/preferences";
import type { EmbeddedRun } from "./embedded";

export function ExportedRun({ model, explain, tick }: EmbeddedRun) {
  const [view, setView] = useState({ ...FIRST_VIEW, tick });
  const [showsKeys, setShowsKeys] = useState(false);
  const source = useRef<SourceHandle>(null);
  useKeys({ "?": () => setShowsKeys(true) });
  return (
    <main className="h-dvh overflow-auto bg-canvas">
      <RunView
        model={model}
        view={view}
        change={(changes) => setView((before) => ({ ...before, ...changes }))}
        source={source}
        explain={explain}
        whyNoTexts="The texts of this run were left out or deleted."
        actions={<ThemeButton />}
      />
      {showsKeys && <KeysDialog onClose={() => setShowsKeys(false)} />}
      <Toasts />
    </main>
  );
}

function ThemeButton() {
  const { theme, change } = usePreferences();
  const other = shownTheme(theme) === "dark" ? "light" : "dark";
  return <Button onClick={() => change({ theme: other })}>{other === "dark" ? "Dark" : "Light"}</Button>;
}

function KeysDialog({ onClose }: { onClose: () => void }) {
  const { singleKeys, change } = usePreferences();
  return (
    <Dialog title="Keys" onClose={onClose}>
      <KeyMapTable groups={["Run"]} />
      <label className="block pt-3">
        <input type="checkbox" checked={singleKeys} onChange={() => change({ singleKeys: !singleKeys })} />{" "}
        Single keys act
      </label>
    </Dialog>
  );
}
