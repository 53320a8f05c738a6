import { useId } from "react";
import { KeyMapTable } from "@/parts/KeyMapTable";
import { usePreferences } from "@/store/preferences";
import { Card, Section, Setting } from "./Section";

export function Keys() {
  const id = useId();
  const { singleKeys, change } = usePreferences();
  return (
    <Section title="Keys" lead="Kept in this browser.">
      <Card>
        <Setting
          name={
            <label htmlFor={id}>
              <strong>Single keys</strong>
            </label>
          }
          text={
            <>
              One letter is a command, except in text fields. Switch them off if they get in the way of
              dictation or of your own shortcuts; keys with ⌘ or Ctrl, Esc and the function keys go on
              working.
            </>
          }
        >
          <input
            id={id}
            type="checkbox"
            role="switch"
            className="settings-switch"
            checked={singleKeys}
            onChange={(event) => change({ singleKeys: event.target.checked })}
          />
        </Setting>
      </Card>
      <Card className="py-3.5">
        <h2 className="visually-hidden">All keys</h2>
        <KeyMapTable />
      </Card>
    </Section>
  );
}
