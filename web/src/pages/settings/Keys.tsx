import { useId } from "react";
import { KeyMapTable } from "@/parts/KeyMapTable";
import { usePreferences } from "@/store/preferences";

export function Keys() {
  const id = useId();
  const { singleKeys, change } = usePreferences();
  return (
    <div className="settings-scroll">
      <div className="settings-main">
        <h1>Keys</h1>
        <p className="settings-lead">Kept in this browser.</p>
        <section className="settings-card settings-rows">
          <div>
            <span>
              <label htmlFor={id}>
                <strong>Single keys</strong>
              </label>
              <p>
                One letter is a command, except in text fields. Switch them off if they get in the way of
                dictation or of your own shortcuts; keys with ⌘ or Ctrl, Esc and the function keys go on
                working.
              </p>
            </span>
            <input
              id={id}
              type="checkbox"
              role="switch"
              className="settings-switch"
              checked={singleKeys}
              onChange={(event) => {
                change({ singleKeys: event.target.checked });
              }}
            />
          </div>
        </section>
        <section className="settings-card settings-keys">
          <h2 className="visually-hidden">All keys</h2>
          <KeyMapTable />
        </section>
      </div>
    </div>
  );
}
