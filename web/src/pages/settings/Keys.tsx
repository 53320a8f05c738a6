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
              One letter is a command, except in text fields. Turn them off if they conflict with dictation or
              your own shortcuts. Keys with ⌘ or Ctrl, Esc and the function keys still work.
            </>
          }
        >
          <input
            id={id}
            type="checkbox"
            role="switch"
            className="flex-none relative w-9 h-5 m-0 rounded-[10px] bg-line-3 appearance-none cursor-pointer transition-[background-color] duration-(--fast) ease-(--ease) after:absolute after:top-0.5 after:left-0.5 after:w-4 after:h-4 after:rounded-full after:bg-surface after:transition-[translate] after:duration-(--fast) after:ease-(--ease) checked:bg-ink checked:after:translate-x-4"
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
