/** Debugging live as a part of the view of a run; nothing of it shows where the operator has not enabled it. */
import { useState, type ReactNode } from "react";
import { useMe } from "@/api/queries";
import { Button } from "@/parts/Button";
import { Mark } from "@/parts/Mark";
import type { BoardRow } from "@/run/board";
import type { RunModel } from "@/run/model";
import type { KeyMap } from "@/store/keys";
import type { BreakpointMark } from "../interface";
import { BreakpointsDialog } from "./BreakpointsDialog";
import { ForceDialog } from "./ForceDialog";
import { PausedStrip } from "./PausedStrip";
import { breakpointAt, useBreakpointMarks, useBreakpoints } from "./useBreakpoints";
import { useDebugger, type Debugger } from "./useDebugger";
import { ValueDialog } from "./ValueDialog";

export interface Debugging {
  /** What the run can be told; null where the operator has not enabled it, and for a run that has ended. */
  readonly steering: Debugger | null;
  readonly isPaused: boolean;
  /** The node at which the run is paused. */
  readonly pausedAt: number | null;
  readonly breakpoints: ReadonlyMap<number, BreakpointMark> | undefined;
  readonly onToggleBreakpoint: ((node: number) => void) | undefined;
  readonly onChangeValue: ((row: BoardRow) => void) | undefined;
  readonly keys: KeyMap;
  /** For the head of the run. */
  readonly buttons: ReactNode;
  readonly strip: ReactNode;
  readonly dialogs: ReactNode;
}

type Opened =
  | { readonly kind: "value"; readonly row: BoardRow }
  | { readonly kind: "force"; readonly node: number }
  | { readonly kind: "breakpoints" }
  | null;

export function useDebugging(model: RunModel, at: number, selectedNode: () => number | null): Debugging {
  const { data: me } = useMe();
  const canDebug = me?.can_debug ?? false;
  const isLive = !model.isComplete;
  const it = useDebugger(model.run.id, canDebug && isLive);
  const breakpoints = useBreakpoints(canDebug);
  const marks = useBreakpointMarks(breakpoints.all, model);
  const [opened, setOpened] = useState<Opened>(null);
  const close = () => setOpened(null);

  const toggle = (node: number): void => {
    const known = breakpointAt(breakpoints.all, model, node);
    const { tree, user_id } = model.run;
    if (known) breakpoints.remove(known.id);
    else breakpoints.add({ kind: "node", tree, user_id, path: model.nodes[node]?.path ?? null });
  };
  const hit = it.isPaused ? (it.state?.hit?.path ?? null) : null;
  const pausedAt = hit === null ? null : (model.nodes.find((node) => node.path === hit)?.index ?? null);
  const isRunning = isLive && it.state?.state === "running";
  const keys: KeyMap = {
    b: () => {
      const node = selectedNode() ?? model.decision(at);
      if (!canDebug || node === null) return false;
      toggle(node);
    },
    F10: () => {
      if (!it.isPaused) return false;
      it.send({ command: "step" });
    },
  };
  return {
    steering: canDebug && isLive ? it : null,
    isPaused: it.isPaused,
    pausedAt,
    breakpoints: canDebug ? marks : undefined,
    onToggleBreakpoint: canDebug ? toggle : undefined,
    onChangeValue: it.isPaused ? (row) => setOpened({ kind: "value", row }) : undefined,
    keys,
    buttons: canDebug && (
      <>
        {isRunning && (
          <Button disabled={it.isBusy} onClick={() => it.send({ command: "pause" })}>
            Pause
          </Button>
        )}
        {isLive && (
          <Button
            className="max-narrow:w-11 max-narrow:p-0! max-narrow:border-transparent!"
            onClick={() => setOpened({ kind: "breakpoints" })}
          >
            <Mark kind="breakpoint" size={10} label={null} />
            <span className="max-narrow:sr-only">Breakpoints…</span>
          </Button>
        )}
      </>
    ),
    strip: (
      <PausedStrip
        model={model}
        it={it}
        onForce={() =>
          setOpened({ kind: "force", node: selectedNode() ?? pausedAt ?? model.decision(at) ?? 0 })
        }
      />
    ),
    dialogs: (
      <>
        {opened?.kind === "value" && <ValueDialog row={opened.row} it={it} onClose={close} />}
        {opened?.kind === "force" && <ForceDialog model={model} node={opened.node} it={it} onClose={close} />}
        {opened?.kind === "breakpoints" && (
          <BreakpointsDialog model={model} breakpoints={breakpoints} onClose={close} />
        )}
      </>
    ),
  };
}
