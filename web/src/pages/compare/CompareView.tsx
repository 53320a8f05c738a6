import { useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { Button } from "@/parts/Button";
import { ChevronLeftIcon, ChevronRightIcon } from "@/parts/icons";
import { Menu } from "@/parts/Menu";
import { Segmented } from "@/parts/Segmented";
import { StatusBar } from "@/parts/StatusBar";
import { Tabs } from "@/parts/Tabs";
import type { RunModel } from "@/run/model";
import { SourceView, useExplained, useRunVersion } from "@/source";
import { downloadExport } from "@/source/exports";
import { save } from "@/parts/save";
import { Legend } from "@/source/Legend";
import { useKeys } from "@/store/keys";
import { useMedia } from "@/store/media";
import {
  alignedTo,
  equalTicks,
  lineDifferences,
  nextDifference,
  partsAtTick,
  type Alignment,
  type Difference,
  differingParts,
} from "./differences";
import { AnswersPane, TreePane, WherePane } from "./panes";
import { Strips } from "./Strips";

const KEYS = [
  [["n"], "next difference"],
  [["s"], "swap"],
  [["ArrowLeft", "ArrowRight"], "tick"],
] as const;
const ALIGNMENTS: readonly { value: Alignment; label: string }[] = [
  { value: "tick", label: "By tick" },
  { value: "turn", label: "By turn" },
];
type Pane = "where" | "answers" | "tree";

export interface Side {
  model: RunModel;
  explain: (at: number) => void;
}

interface CompareViewProps {
  a: Side;
  b: Side;
  difference: Difference;
}

/** Two runs on one source: A's tree, with the marks of both. */
export function CompareView({ a, b, difference }: CompareViewProps) {
  const [, navigate] = useLocation();
  const versions = [useRunVersion(a.model), useRunVersion(b.model)].join(" ");
  const parts = partsAtTick(difference);
  const [tick, setTick] = useState(Math.max(1, parts));
  const [by, setBy] = useState<Alignment>("tick");
  const isWide = useMedia("(width >= 1500px)");
  const [pane, setPane] = useState<Pane>("where");
  const [row, setRow] = useState<number | null>(null);
  const last = a.model.ticks.length - 1;
  const at = Math.min(last, Math.max(0, tick - 1));
  const atB = alignedTo(a.model, b.model, at, by);
  useExplained(a.model, at, a.explain);
  useExplained(b.model, atB, b.explain);
  const equal = equalTicks(difference, a.model, b.model);
  const lines = useMemo(() => lineDifferences(a.model.tree, b.model.tree), [a.model.tree, b.model.tree]);

  const go = (to: number) => setTick(Math.min(last, Math.max(0, to)) + 1);
  /** The tick of A beside which a tick of B stands. */
  const goByB = (to: number) => {
    const turn = b.model.ticks[to]?.turn;
    const same = a.model.ticks.findIndex((each) => each.turn === turn);
    go(by === "turn" && same >= 0 ? same + to - b.model.ticks.findIndex((each) => each.turn === turn) : to);
  };
  const next = () => {
    const found = nextDifference(difference, at + 1);
    if (found !== null) setTick(found);
  };
  const swap = () => navigate(`/compare/${b.model.run.id}/${a.model.run.id}`);
  useKeys({
    n: next,
    s: swap,
    ArrowLeft: () => go(at - 1),
    ArrowRight: () => go(at + 1),
    Home: () => go(0),
    End: () => go(last),
  });

  const question = a.model.run.question || "(the question was deleted)";
  const isParting = tick === parts;
  const headlines = [a.model.headline(at), b.model.headline(atB)] as const;
  const differing = differingParts(...headlines);
  return (
    <div className="flex flex-col h-full bg-surface max-[900px]:overflow-auto" data-versions={versions}>
      <header className="flex flex-none items-center gap-2 px-4 border-b border-line h-12 max-narrow:gap-x-1.5 max-narrow:px-3 max-[900px]:flex-wrap max-[900px]:h-auto max-[900px]:py-2 max-narrow:[&_.button]:min-h-9">
        <nav
          className="flex-none text-ink-3 max-narrow:flex-1 max-narrow:text-sm max-narrow:whitespace-nowrap"
          aria-label="Breadcrumb"
        >
          <Link href="/runs" className="no-underline">
            Runs
          </Link>{" "}
          / Compare
        </nav>
        <h1
          className="flex-1 text-lg truncate max-narrow:leading-normal max-[900px]:basis-full max-[900px]:-order-1"
          title={question}
        >
          {question}
        </h1>
        <Segmented label="Align" options={ALIGNMENTS} value={by} onChange={setBy} />
        <Button onClick={swap}>Swap</Button>
        <Menu
          label="Export"
          align="end"
          button={(props) => <Button {...props}>Export</Button>}
          items={[
            {
              label: "Comparison (JSON)",
              onSelect: () => {
                const text = JSON.stringify({ a: a.model.run.id, b: b.model.run.id, difference }, null, 2);
                save(new Blob([text], { type: "application/json" }), "comparison.json");
              },
            },
            ...Object.entries({ A: a, B: b }).flatMap(([letter, { model }]) => [
              {
                label: `${letter} as a page (HTML)`,
                onSelect: () => void downloadExport(model.run.id, "html", null),
              },
              {
                label: `${letter} as data (JSON)`,
                onSelect: () => void downloadExport(model.run.id, "json", null),
              },
            ]),
          ]}
        />
      </header>
      <Strips
        runs={[
          { letter: "A", model: a.model, at },
          { letter: "B", model: b.model, at: atB },
        ]}
        equalTicks={equal}
        onSelectTick={(letter, to) => (letter === "A" ? go(to) : goByB(to))}
      />
      <div className="compare-bar flex flex-none items-center gap-2 px-4 border-b border-line h-10 whitespace-nowrap max-[900px]:flex-wrap max-[900px]:h-auto max-[900px]:py-1.5 max-[900px]:whitespace-normal max-narrow:px-1">
        <Button
          variant="ghost"
          size="small"
          icon={<ChevronLeftIcon />}
          aria-label="Tick before"
          disabled={at <= 0}
          onClick={() => go(at - 1)}
        />
        <Button
          variant="ghost"
          size="small"
          icon={<ChevronRightIcon />}
          aria-label="Tick after"
          disabled={at >= last}
          onClick={() => go(at + 1)}
        />
        <strong>
          {parts === 0 ? "They do not differ" : isParting ? `They differ from tick ${tick}` : `Tick ${tick}`}
        </strong>
        <span className="narrow:pr-3 narrow:border-r border-line-2 text-ink-3">
          of {a.model.ticks.length} and {b.model.ticks.length}
        </span>
        <p
          className="flex-1 min-w-0 overflow-hidden text-ellipsis max-narrow:basis-full max-narrow:px-3"
          aria-live="polite"
        >
          {isParting && equal > 0 && <>{equal} ticks are the same. Then </>}
          {headlines[0] === headlines[1] ? (
            <>{headlines[0] || "Nothing is known about this tick."}</>
          ) : (
            <>
              <b>A:</b> {differing[0] || "not known."} <b>B:</b> {differing[1] || "not known."}
            </>
          )}
        </p>
      </div>
      <div className="flex flex-1 min-h-0 max-[900px]:flex-none max-[900px]:flex-col">
        <div className="flex flex-1 flex-col min-w-0 min-h-0 max-[900px]:flex-none max-[900px]:h-[60vh]">
          <SourceView
            model={a.model}
            at={at}
            onSelectTick={go}
            follow
            axis="equal"
            selectedRow={row}
            onSelectRow={setRow}
            compare={{ model: b.model, at: atB, equalTicks: equal, onSelectTick: goByB }}
          />
        </div>
        <aside
          className="flex-none w-80 border-l border-line overflow-hidden min-[1500px]:w-102 max-[900px]:w-auto max-[900px]:border-l-0 max-[900px]:border-t max-[900px]:border-line"
          aria-label="Differences"
        >
          <Tabs<Pane>
            label="Differences"
            selected={pane}
            onSelect={setPane}
            tabs={[
              {
                name: "where",
                label: "First difference",
                panel: (
                  <WherePane
                    a={a.model}
                    b={b.model}
                    atA={at}
                    atB={atB}
                    difference={difference}
                    lines={lines}
                  />
                ),
              },
              { name: "answers", label: "Answers", panel: <AnswersPane difference={difference} /> },
              {
                name: "tree",
                label: isWide ? "Tree difference" : "Tree",
                count: lines.length,
                panel: <TreePane a={a.model} b={b.model} difference={difference} lines={lines} />,
              },
            ]}
          />
        </aside>
      </div>
      <StatusBar keys={KEYS}>
        <Legend />
      </StatusBar>
    </div>
  );
}
