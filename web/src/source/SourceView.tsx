/**
 * The source of the tree that ran, with marks, values and the history of all ticks on its lines.
 *
 * Rows and matrix are virtual: of a large tree only a window around the visible part exists, which is moved in steps, so
 * that a small scroll draws nothing. The matrix scrolls with its rows, as one canvas of that window.
 */
import {
  useEffect,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type MouseEvent,
} from "react";
import { Skeleton } from "@/parts/Skeleton";
import { landmarks } from "@/run/rows";
import { OMITTED } from "@/run/words";
import {
  arrange,
  FOOT_PX,
  lineOfTick,
  positionOf,
  rowAtHeight,
  STICKY_PX,
  stickyAt,
  topOfTick,
  wholeLinesAt,
  type PlacedRow,
} from "./arrange";
import { Breadcrumb } from "./Breadcrumb";
import type { SourceHandle, SourceViewProps } from "./interface";
import { MatrixHead, MatrixRows, useMatrix } from "./Matrix";
import { measureCharacter } from "./measure";
import { Row, type RowFrame } from "./Row";
import { wasAsked } from "./wasAsked";
import { findRow, openAround } from "./searching";
import { useRunVersion } from "./useRunVersion";
import { useSize } from "./useSize";
import "./SourceView.css";

const STEP_PX = 200; // by which the window of rows is moved
const OTHER_MARKS_PX = 24; // between two matrices: the marks of the second run
const NONE: ReadonlyMap<number, boolean> = new Map();

export function SourceView({
  model,
  at,
  follow,
  axis,
  selectedRow,
  breakpoints,
  pausedAt,
  compare,
  onSelectTick,
  onSelectRow,
  onToggleBreakpoint,
  onWindow,
  ref,
}: SourceViewProps) {
  const version = useRunVersion(model);
  const otherModel = compare?.model ?? model;
  const otherVersion = useRunVersion(otherModel);
  const otherAt = compare?.at ?? -1;
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const size = useSize(scroller);
  const [chosen, setChosen] = useState({ follow, opened: NONE });
  const opened = chosen.follow === follow ? chosen.opened : NONE;
  const [scrolled, setScrolled] = useState(0);
  const [charWidth] = useState(measureCharacter);
  const isNarrow = size.width < 480;
  const gutter = isNarrow ? 62 : 76;
  const mostSticky = isNarrow ? 2 : 4;
  const sparePx = onToggleBreakpoint === undefined ? 0 : 4;

  const longest = Math.max(model.ticks.length, otherModel.ticks.length);
  const shared = { axis, width: size.width, longest };
  // On a phone the code has the room of the matrices; the strips above have the ticks.
  const sharing = compare === undefined ? 1 : isNarrow ? 0 : 2;
  const veiledTicks = compare?.equalTicks ?? 0;
  const matrix = useMatrix({ ...shared, model, version, at, sharing, veiledTicks, onSelectTick });
  const otherMatrix = useMatrix({
    ...shared,
    model: otherModel,
    version: otherVersion,
    at: otherAt,
    sharing: compare === undefined ? 0 : sharing,
    veiledTicks,
    onSelectTick: compare?.onSelectTick ?? onSelectTick,
  });
  const otherWidth = compare === undefined ? 0 : OTHER_MARKS_PX + otherMatrix.width;
  const codeWidth = Math.max(0, size.width - matrix.width - otherWidth);
  const otherLeft = size.width - otherMatrix.width;
  const hasOther = compare !== undefined;
  const arranged = useMemo(
    () =>
      arrange(model, {
        at,
        follow,
        opened,
        codeWidth: codeWidth - gutter,
        charWidth,
        viewHeight: size.height,
        mostSticky,
        sparePx,
        other: hasOther ? { model: otherModel, at: otherAt } : undefined,
      }),
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the versions stand for what the models hold
    [
      model,
      version,
      otherModel,
      otherVersion,
      otherAt,
      hasOther,
      at,
      follow,
      opened,
      codeWidth,
      gutter,
      charWidth,
      size.height,
      mostSticky,
      sparePx,
    ],
  );
  const { shown, source, tops, path } = arranged;
  const frame = useMemo<RowFrame>(
    () => ({
      view: arranged,
      markOf: (node) => model.mark(node, at),
      wasAsked: (node) => wasAsked(model, node, at),
      base: arranged.base,
      codeWidth,
      charWidth,
      gutter,
      turn: model.ticks[at]?.turn ?? null,
      otherLeft: hasOther ? otherLeft - OTHER_MARKS_PX + 6 : null,
    }),
    [arranged, model, at, codeWidth, charWidth, gutter, hasOther, otherLeft],
  );

  const toggle = (row: number): void => {
    const each = shown[positionOf(shown, row)];
    if (each?.isFoldable !== true || each.row.index !== row) return;
    setChosen({ follow, opened: new Map(opened).set(row, each.isFolded) });
  };
  /** Rows have no handlers of their own: a press is of the row, or of a part of it, that it is in. */
  const press = ({ target }: MouseEvent<HTMLElement>): void => {
    if (!(target instanceof Element)) return;
    const row = Number(target.closest<HTMLElement>("[data-row]")?.dataset.row ?? "-1");
    const node = source.rows[row]?.nodes[0];
    if (row < 0) return;
    if (target.closest(".source-breakpoint") !== null) {
      if (node !== undefined) onToggleBreakpoint?.(node);
      return;
    }
    if (target.closest(".source-note") !== null) toggle(row);
    onSelectRow(row);
  };

  const fold = ({ target }: MouseEvent<HTMLElement>): void => {
    if (target instanceof Element && target.closest("button, canvas") === null)
      toggle(Number(target.closest<HTMLElement>("[data-row]")?.dataset.row ?? "-1"));
  };

  const isInView = (top: number): boolean => {
    const view = scroller.current;
    if (view === null) return false;
    const from = view.scrollTop === 0 ? 0 : view.scrollTop + (mostSticky + 1) * STICKY_PX;
    return top >= from && top <= view.scrollTop + view.clientHeight - FOOT_PX;
  };
  /** Scroll to the line of the tick, if it is not well in view or the sticky lines are not those of the tick. */
  const scrollToTick = (): void => {
    const view = scroller.current;
    const top = tops[lineOfTick(arranged)];
    if (view === null || top === undefined) return;
    const base = stickyAt(arranged, view.scrollTop, mostSticky)[0]?.row.x ?? 0;
    if (isInView(top) && base >= arranged.base) return;
    view.scrollTop = topOfTick(arranged, view.clientHeight, mostSticky);
  };
  /** Scroll to a row as little as is needed. */
  const scrollTo = (row: number): void => {
    const view = scroller.current;
    const top = tops[positionOf(shown, row)];
    if (view === null || top === undefined || isInView(top)) return;
    const isAbove = top < view.scrollTop + (mostSticky + 1) * STICKY_PX;
    const wanted = isAbove
      ? top - (mostSticky + 1) * STICKY_PX
      : top - view.clientHeight + FOOT_PX + STICKY_PX;
    view.scrollTop = wholeLinesAt(arranged, wanted, mostSticky);
  };

  const decision = path.at(-1) ?? null;
  const isMeasured = size.height > 0;
  const reveal = useRef<number | null>(null); // a row to scroll to, once it is shown
  useLayoutEffect(() => {
    if (isMeasured) scrollToTick();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- not after each fold or resize: the reader has scrolled
  }, [at, decision, follow, isMeasured]);
  // After the decision: what was asked for is shown, whatever the tick has moved.
  useLayoutEffect(() => {
    if (reveal.current === null || !isMeasured) return;
    scrollTo(reveal.current);
    reveal.current = null;
  });

  const select = (row: number): void => {
    reveal.current = row;
    if (positionOf(shown, row) < 0 || shown[positionOf(shown, row)]?.row.index !== row)
      setChosen({ follow, opened: openAround(source, opened, row) });
    onSelectRow(row);
    if (row === selectedRow) scrollTo(row);
  };
  const move = (step: number): void => {
    const now = positionOf(shown, selectedRow ?? (decision === null ? 0 : source.rowOf(decision)));
    const next = shown[Math.max(0, Math.min(shown.length - 1, selectedRow === null ? now : now + step))];
    if (next !== undefined) select(next.row.index);
  };
  useImperativeHandle(ref, (): SourceHandle => ({
    revealDecision: () => {
      if (decision === null) return;
      select(source.rowOf(decision));
    },
    revealNode: (node) => {
      if (source.rowOf(node) >= 0) select(source.rowOf(node));
    },
    moveRow: move,
    toggleRow: () => selectedRow !== null && toggle(selectedRow),
    find: (words, direction) => {
      const found = findRow(source, words, selectedRow, direction);
      if (found === null) return false;
      select(found);
      return true;
    },
    selectedNode: () => source.rows[selectedRow ?? -1]?.nodes[0] ?? null,
    focus: () => scroller.current?.focus(),
  }));

  const { first, end } = matrix.range;
  const isWhole = first === 0 && end >= model.ticks.length;
  useEffect(() => {
    onWindow?.(isWhole ? null : { first, end });
  }, [onWindow, isWhole, first, end]);

  const sticky = stickyAt(arranged, scrolled, mostSticky).map((each) => ({ ...each, height: STICKY_PX }));
  const windowTop = Math.max(0, Math.floor(scrolled / STEP_PX) * STEP_PX - STEP_PX);
  const windowEnd = windowTop + size.height + 3 * STEP_PX;
  const from = rowAtHeight(tops, windowTop);
  const to = Math.min(shown.length, rowAtHeight(tops, windowEnd) + 1);
  const visible = shown.slice(from, to);
  const rowProps = (each: PlacedRow) => ({
    id: `${id}${each.key}`,
    shown: each,
    frame,
    canBreak: onToggleBreakpoint !== undefined,
    isSelected: each.sign !== "+" && each.row.index === selectedRow,
    breakpoint: each.node === null ? undefined : breakpoints?.get(each.node),
    isPaused: each.node !== null && each.node === pausedAt,
  });
  const active = visible.find((each) => each.row.index === selectedRow && each.sign !== "+");
  const bodyHeight = Math.max(arranged.height + STICKY_PX, size.height);
  const matrixHeight = Math.min(windowEnd, bodyHeight) - windowTop;
  const rowY = (index: number): number => (tops[from + index] ?? 0) - windowTop;
  return (
    <div
      className={`flex flex-1 flex-col min-w-0 min-h-0 bg-surface ${isNarrow ? "is-narrow" : ""} ${sparePx > 0 ? "is-spaced" : ""}`}
    >
      <div
        className="relative flex flex-none items-center h-9 border-b border-line"
        style={{ paddingRight: size.width - codeWidth }}
      >
        <Breadcrumb
          file={model.tree?.file ?? ""}
          view={arranged}
          nodes={landmarks(arranged)}
          room={codeWidth}
          onNode={(node) => select(source.rowOf(node))}
        />
        <MatrixHead matrix={matrix} left={codeWidth} />
        {hasOther && <MatrixHead matrix={otherMatrix} left={otherLeft} />}
        {hasOther && isNarrow && <strong className="absolute right-2 text-sm">B</strong>}
      </div>
      <div className="relative flex-1 min-h-0">
        <div
          ref={scroller}
          className="source-scroller absolute inset-0 overflow-x-hidden overflow-y-auto focus-visible:-outline-offset-2"
          role="treegrid"
          aria-label="Source of the tree"
          aria-readonly="true"
          aria-rowcount={shown.length}
          aria-activedescendant={active && `${id}${active.key}`}
          tabIndex={0}
          onClick={press}
          onDoubleClick={fold}
          onScroll={(event) => {
            const top = Math.floor(event.currentTarget.scrollTop / STICKY_PX) * STICKY_PX;
            if (top !== scrolled) setScrolled(top);
          }}
          onKeyDown={(event) => {
            if (
              event.target !== event.currentTarget ||
              event.shiftKey ||
              event.metaKey ||
              event.ctrlKey ||
              event.altKey
            )
              return;
            if (event.key === "ArrowDown") move(1);
            else if (event.key === "ArrowUp") move(-1);
            else if (event.key === "Enter" && selectedRow !== null) toggle(selectedRow);
            else return;
            event.preventDefault();
          }}
        >
          {model.tree === null && <p className="p-6 text-ink-3">{whyNoTree(model.problem)}</p>}
          <div
            className="source-rows relative overflow-hidden"
            role="rowgroup"
            style={{ height: bodyHeight }}
          >
            {visible.map((each, index) => (
              <Row
                key={each.key}
                {...rowProps(each)}
                top={tops[from + index] ?? 0}
                number={from + index + 1}
              />
            ))}
            <MatrixRows
              matrix={matrix}
              left={codeWidth}
              top={windowTop}
              height={matrixHeight}
              rows={visible}
              rowY={rowY}
              selectedRow={selectedRow}
            />
            {hasOther && (
              <MatrixRows
                matrix={otherMatrix}
                left={otherLeft}
                top={windowTop}
                height={matrixHeight}
                rows={visible}
                rowY={rowY}
                selectedRow={selectedRow}
                isOther
              />
            )}
          </div>
        </div>
        {sticky.length > 0 && (
          // The rows in it are a second copy: those in the treegrid take the keys.
          // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions
          <div
            className="source-sticky absolute top-0 left-0 overflow-hidden border-b border-line-2 bg-surface shadow-[0_3px_6px_-2px_rgb(20_20_30/10%)]"
            style={{ width: size.width }}
            onClick={press}
          >
            {sticky.map((each) => (
              <Row key={each.key} {...rowProps(each)} top={null} number={0} isSticky />
            ))}
            <MatrixRows
              matrix={matrix}
              left={codeWidth}
              top={0}
              height={sticky.length * STICKY_PX}
              rows={sticky}
              rowY={(index) => index * STICKY_PX}
              selectedRow={selectedRow}
            />
            {hasOther && (
              <MatrixRows
                matrix={otherMatrix}
                left={otherLeft}
                top={0}
                height={sticky.length * STICKY_PX}
                rows={sticky}
                rowY={(index) => index * STICKY_PX}
                selectedRow={selectedRow}
                isOther
              />
            )}
          </div>
        )}
        {!isMeasured && <Skeleton label="Loading the run" />}
      </div>
    </div>
  );
}

function whyNoTree(problem: string): string {
  return problem === "" || problem === OMITTED
    ? "The tree of this run is no longer stored."
    : `The tree of this run is not known: ${problem}.`;
}
