/** The panes of a run: all as tabs; on wide screens Why stands above the others. */
import type { ComponentType } from "react";
import { Tabs } from "@/parts/Tabs";
import { boardAt, type BoardRow } from "@/run/board";
import type { RunModel } from "@/run/model";
import type { TabName } from "../address";
import type { AnswerProps } from "./Answer";
import { Blackboard } from "./Blackboard";
import { Messages } from "./Messages";
import { Why } from "./Why";

interface PanesProps {
  model: RunModel;
  at: number;
  version: number;
  tab: TabName;
  /** The last tick is followed. */
  isFollowing: boolean;
  /** Why has a place of its own. */
  isSplit: boolean;
  foundKey: string | null;
  Answer: ComponentType<AnswerProps>;
  onTab: (tab: TabName) => void;
  onNode: (node: number) => void;
  onSelectTick: (at: number) => void;
  onChangeValue?: ((row: BoardRow) => void) | undefined;
}

export function Panes(props: PanesProps) {
  const { model, at, version, isFollowing, tab, isSplit, onTab, Answer } = props;
  const why = <Why model={model} at={at} version={version} onNode={props.onNode} />;
  const tabs = [
    ...(isSplit ? [] : [{ name: "why" as const, label: "Why", panel: why }]),
    {
      name: "answer" as const,
      label: "Answer",
      panel: <Answer model={model} at={at} version={version} isFollowing={isFollowing} />,
    },
    {
      name: "board" as const,
      label: "Blackboard",
      count: boardAt(model, at).changed.length,
      panel: (
        <Blackboard
          model={model}
          at={at}
          version={version}
          found={props.foundKey}
          onSelectTick={props.onSelectTick}
          onChange={props.onChangeValue}
        />
      ),
    },
    {
      name: "messages" as const,
      label: isSplit ? "Messages to the model" : "Messages",
      panel: <Messages model={model} at={at} version={version} />,
    },
  ];
  const selected = isSplit && tab === "why" ? "board" : tab;
  return (
    <>
      {isSplit && (
        <section
          className="flex flex-initial flex-col min-h-40 max-h-[max(50%,100%-220px)] border-b border-line"
          aria-labelledby="panes-why"
        >
          <header className="flex flex-none items-center justify-between h-9 px-4 border-b border-line text-ink-3">
            <h2
              id="panes-why"
              className="relative text-ink text-md leading-9 after:absolute after:-inset-x-2 after:bottom-0 after:h-0.5 after:bg-ink"
            >
              Why
            </h2>
            <span>from the root to the decision</span>
          </header>
          <div className="panes-why-steps min-h-0 overflow-auto">{why}</div>
        </section>
      )}
      <Tabs<TabName> label="Panes" tabs={tabs} selected={selected} onSelect={onTab} />
    </>
  );
}
