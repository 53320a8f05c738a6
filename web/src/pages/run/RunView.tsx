/** The view of a run: overview, source with its matrix, and panes, all at one tick. */
import { useEffect, useRef, useState, type ComponentType, type ReactNode, type RefObject } from "react";
import { StatusBar } from "@/parts/StatusBar";
import { refusedAt } from "@/run/breaches";
import type { NodeFacts } from "@/run/facts";
import type { RunModel } from "@/run/model";
import { firstShown, nextAsked, nextError, turnFrom } from "@/run/moves";
import { sourceOf } from "@/run/source";
import { titleOf } from "@/run/words";
import {
  Overview,
  SourceView,
  useExplained,
  useRunVersion,
  type SourceHandle,
  type TickRange,
} from "@/source";
import type { Debugging } from "@/source/debug/useDebugging";
import { FiguresStrip } from "@/source/FiguresStrip";
import { Legend } from "@/source/Legend";
import { useKeys, type KeyMap } from "@/store/keys";
import { useMedia } from "@/store/media";
import { usePlaces } from "@/store/places";
import { TABS, type Address, type ChangeAddress } from "./address";
import { BottomSheet } from "./BottomSheet";
import { findValue } from "./find";
import { Graph } from "./graph/Graph";
import { Panes } from "./panes";
import { Answer, type AnswerProps } from "./panes/Answer";
import { RunHead } from "./RunHead";
import { RunSearch, type Found } from "./RunSearch";
import { TickBar } from "./TickBar";
import { usePlay } from "./usePlay";
import { WaitingStrip } from "./WaitingStrip";

const KEYS = [
  [["ArrowLeft", "ArrowRight"], "tick"],
  [["shift+ArrowRight"], "turn"],
  [["d"], "to decision"],
  [["t"], "time axis"],
  [["?"], "all keys"],
] as const;

interface RunViewProps {
  model: RunModel;
  view: Address;
  change: ChangeAddress;
  source: RefObject<SourceHandle | null>;
  /** Load what explains a tick. */
  explain: (at: number) => void;
  /** Why texts are gone, if they are. */
  whyNoTexts: string;
  /** What can be done with the run, as buttons. */
  actions: ReactNode;
  /** What only a run of a service has. */
  served?: {
    readonly debugging: Debugging;
    /** The connection of a live run is lost, and being made again. */
    readonly isReconnecting: boolean;
    readonly onOpenSource: (node: NodeFacts) => void;
    readonly Answer: ComponentType<AnswerProps>;
  };
}

export function RunView({ model, view, change, source, explain, whyNoTexts, actions, served }: RunViewProps) {
  const version = useRunVersion(model);
  const debugging = served?.debugging;
  const [row, setRow] = useState<number | null>(null);
  const [window_, setWindow] = useState<TickRange | null>(null);
  const [search, setSearch] = useState<string | null>(null);
  const [foundKey, setFoundKey] = useState<string | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const isWide = useMedia("(width >= 1500px)");
  const isNarrow = useMedia("(width < 700px)");

  const at = firstShown(model, view.tick);
  const last = model.ticks.length - 1;
  const isFollowing = view.tick === null && !model.isComplete;
  const go = (to: number) => {
    const tick = model.ticks[Math.max(0, Math.min(last, to))];
    if (tick) change({ tick: tick.tick });
  };
  const play = usePlay(model, at, go);

  const isPassing = isFollowing && model.run.status === "finished"; // it has ended, and its ticks are being read
  useExplained(model, isPassing ? -1 : isFollowing ? last : at, explain);

  const { node } = view;
  const isShown = !view.graph;
  useEffect(() => {
    if (isShown && node !== null) source.current?.revealNode(node);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once shown, the rows lead, and the node follows them
  }, [isShown]);

  const selectRow = (to: number | null) => {
    setRow(to);
    const rows = model.tree === null ? [] : sourceOf(model.tree).rows;
    change({ node: rows[to ?? -1]?.nodes[0] ?? null });
  };
  const showNode = (to: number) => {
    change({ node: to });
    source.current?.revealNode(to);
  };
  usePlaces(() =>
    model.nodes.map((each) => ({
      label: titleOf(each),
      detail: `${each.file}:${String(each.line)}`,
      go: () => showNode(each.index),
    })),
  );
  const toError = () => {
    const error = nextError(model, at);
    if (error === null) return;
    go(error.at);
    if (error.node !== null) showNode(error.node);
  };
  const toRefused = () => {
    const found = refusedAt(model);
    const tick = model.ticks[found.find((each) => each > at) ?? found[0] ?? -1];
    if (tick) change({ tick: tick.tick, tab: "answer" });
  };
  const toAsked = () => {
    const selected = source.current?.selectedNode() ?? node;
    const found = selected === null ? null : nextAsked(model, selected, at);
    if (found !== null) go(found);
  };
  const find = (direction: 1 | -1): Found => {
    if (search === null) return "nothing";
    if (source.current?.find(search, direction)) return "line";
    const key = findValue(model, at, search, foundKey);
    setFoundKey(key);
    if (key !== null) change({ tab: "board" });
    return key === null ? "nothing" : "value";
  };
  const openSource = () => {
    const selected = model.nodes[source.current?.selectedNode() ?? model.decision(at) ?? -1];
    if (selected !== undefined) served?.onOpenSource(selected);
  };

  /** The focus goes with it: a screen reader says the line. */
  const moveRow = (step: number) => {
    source.current?.focus();
    source.current?.moveRow(step);
  };
  const keys: KeyMap = {
    ...debugging?.keys,
    ArrowLeft: () => go(at - 1),
    ArrowRight: () => go(at + 1),
    "shift+ArrowLeft": () => go(turnFrom(model, at, -1)),
    "shift+ArrowRight": () => go(turnFrom(model, at, 1)),
    Home: (event) => !isScrolled(event) && go(0),
    End: (event) => !isScrolled(event) && go(last),
    ArrowUp: (event) => !isScrolled(event) && moveRow(-1),
    ArrowDown: (event) => !isScrolled(event) && moveRow(1),
    Enter: (event) => !isControl(event) && source.current?.toggleRow(),
    " ": (event) => !isControl(event) && play.toggle(),
    d: () => source.current?.revealDecision(),
    e: toError,
    n: () => (search === null ? toAsked() : find(1)),
    "shift+n": () => search !== null && find(-1),
    l: () => change({ tick: null }),
    t: () => change({ axis: view.axis === "time" ? "equal" : "time" }),
    a: () => change({ follow: !view.follow }),
    g: () => change({ graph: !view.graph }),
    "/": () => {
      if (search === null) setSearch("");
      else field.current?.focus();
    },
    F12: openSource,
    Escape: () => search !== null && setSearch(null),
    ...Object.fromEntries(TABS.map((tab, index) => [String(index + 1), () => change({ tab })])),
  };
  useKeys(keys);

  const panes = (
    <Panes
      model={model}
      at={at}
      version={version}
      isFollowing={isFollowing}
      tab={view.tab}
      isSplit={isWide}
      foundKey={foundKey}
      Answer={served?.Answer ?? Answer}
      onTab={(tab) => change({ tab })}
      onNode={showNode}
      onSelectTick={go}
      onChangeValue={debugging?.onChangeValue}
    />
  );
  return (
    <div className="run flex flex-col h-full min-h-0 bg-surface [@media(height<560px)]:h-auto">
      <RunHead
        model={model}
        isFollowing={isFollowing}
        isLinked={served !== undefined}
        onLive={() => change({ tick: null })}
        onNextError={toError}
        onNextRefused={toRefused}
        isPaused={debugging?.isPaused ?? false}
        isReconnecting={served?.isReconnecting ?? false}
      >
        {debugging?.buttons}
        {actions}
      </RunHead>
      {debugging?.strip}
      {served && <WaitingStrip model={model} onShow={() => change({ tab: "answer", tick: null })} />}
      {model.run.kept !== "whole" && <FiguresStrip>{whyNoTexts}</FiguresStrip>}
      <div className="flex-none h-33 border-b border-line max-narrow:h-22.5">
        <Overview model={model} at={at} onSelectTick={go} window={isNarrow ? null : window_} />
      </div>
      <TickBar
        model={model}
        at={at}
        isPlaying={play.isPlaying}
        follow={view.follow}
        axis={view.axis}
        isGraph={view.graph}
        onGo={go}
        onPlay={play.toggle}
        onFollow={(follow) => change({ follow })}
        onAxis={(axis) => change({ axis })}
        onGraph={(graph) => change({ graph })}
      />
      <div className="relative flex flex-1 min-h-0 [@media(height<560px)]:flex-none [@media(height<560px)]:h-105">
        <div className="flex flex-1 flex-col min-w-0 max-narrow:flex-none max-narrow:w-full max-narrow:h-[calc(58%+12px)] max-narrow:[:has(>.bottom-sheet-low)>&]:h-[calc(100%-48px)]">
          {search !== null && (
            <RunSearch
              ref={field}
              words={search}
              onWords={setSearch}
              onFind={find}
              onClose={() => {
                setSearch(null);
                setFoundKey(null);
              }}
            />
          )}
          {view.graph ? (
            <Graph
              model={model}
              at={at}
              version={version}
              selected={node}
              onSelect={(to) => change({ node: to })}
              onOpen={(to) => change({ node: to, graph: false })}
            />
          ) : (
            <SourceView
              ref={source}
              model={model}
              at={at}
              onSelectTick={go}
              follow={view.follow}
              axis={view.axis}
              selectedRow={row}
              onSelectRow={selectRow}
              breakpoints={debugging?.breakpoints}
              onToggleBreakpoint={debugging?.onToggleBreakpoint}
              pausedAt={debugging?.pausedAt}
              live={isFollowing}
              onWindow={setWindow}
            />
          )}
        </div>
        {isNarrow ? (
          <BottomSheet>{panes}</BottomSheet>
        ) : (
          <aside className="run-panes flex flex-none flex-col w-100 border-l border-line min-[1500px]:w-102 max-[1100px]:w-[36%] max-[1100px]:min-w-68">
            {panes}
          </aside>
        )}
      </div>
      <StatusBar keys={KEYS}>
        <Legend />
      </StatusBar>
      {debugging?.dialogs}
    </div>
  );
}

/** The key belongs to what has the focus: a button, a link, a folded part. */
function isControl(event: KeyboardEvent): boolean {
  return event.target instanceof Element && event.target.closest("button, a, summary, [role=menu]") !== null;
}

/** The key scrolls what has the focus. */
function isScrolled(event: KeyboardEvent): boolean {
  return (
    event.target instanceof Element && event.target.closest(".run-panes, .bottom-sheet, [role=menu]") !== null
  );
}
