import { Link } from "wouter";

import { useHasFeature } from "@/api/queries";
import { ago, number, plural } from "@/parts/format";
import { Mark } from "@/parts/Mark";

import type { TreeHead } from "@/api/types";
import { usesOf } from "@/api/trees";

const HEAD = "h-8.25 py-0 px-2.5 text-ink-2 text-sm font-medium text-left";
const CELL =
  "h-13 py-1 px-2.5 overflow-hidden border-t border-line font-regular text-left text-ellipsis group-hover:bg-surface-2 group-aria-[current]:bg-sel! max-narrow:h-auto max-narrow:py-0.5 max-narrow:px-0 max-narrow:border-0 max-narrow:bg-transparent! max-narrow:group-aria-[current]:bg-transparent!";
/** Where there is less room, names have that of what is less looked for. */
const SECOND = "max-[1100px]:hidden";
const THIRD = "max-[900px]:hidden";

interface TreeTableProps {
  trees: readonly TreeHead[];
  /** Those that a search hides as well: they may use the ones that are shown. */
  all: readonly TreeHead[];
  selected: string | undefined;
  /** The row that has the focus, also by a click, is the one that keys mean. */
  onSelect: (name: string) => void;
  isOperator: boolean;
}

/** A row per tree. */
export function TreeTable({ trees, all, selected, onSelect, isOperator }: TreeTableProps) {
  const hasVerdicts = useHasFeature("verifier") && isOperator;
  const hasScenarios = useHasFeature("scenarios") && isOperator;
  return (
    <table className="w-full border border-line border-separate border-spacing-0 rounded-md bg-surface table-fixed max-narrow:block max-narrow:border-0 max-narrow:bg-transparent">
      <thead className="max-narrow:hidden">
        <tr>
          <th scope="col" className={HEAD}>
            Tree
          </th>
          <th scope="col" className={`${HEAD} w-16 text-right!`}>
            Nodes
          </th>
          <th scope="col" className={`${HEAD} w-44 ${SECOND}`}>
            Used by
          </th>
          <th scope="col" className={`${HEAD} w-42`}>
            Version
          </th>
          <th scope="col" className={`${HEAD} w-37.5`}>
            Runs in 24 h
          </th>
          {isOperator && (
            <th scope="col" className={`${HEAD} w-16`}>
              Check
            </th>
          )}
          {hasVerdicts && (
            <th scope="col" className={`${HEAD} w-23 ${THIRD}`}>
              Verify
            </th>
          )}
          {hasScenarios && (
            <th scope="col" className={`${HEAD} w-27 ${THIRD}`}>
              Scenarios
            </th>
          )}
        </tr>
      </thead>
      <tbody className="max-narrow:block">
        {trees.map((tree) => (
          <Row
            key={tree.name}
            tree={tree}
            all={all}
            isSelected={tree.name === selected}
            onSelect={onSelect}
            isOperator={isOperator}
            hasVerdicts={hasVerdicts}
            hasScenarios={hasScenarios}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps extends Pick<TreeTableProps, "all" | "onSelect" | "isOperator"> {
  tree: TreeHead;
  isSelected: boolean;
  hasVerdicts: boolean;
  hasScenarios: boolean;
}

/** The id of the link that opens a tree: it covers the row. */
export const linkId = (tree: TreeHead) => `tree-${tree.name}`;

function Row({ tree, all, isSelected, onSelect, isOperator, hasVerdicts, hasScenarios }: RowProps) {
  const { parts, whole } = usesOf(tree, all);
  const users = [...parts, ...whole];
  return (
    <tr
      className="group relative max-narrow:flex max-narrow:flex-wrap max-narrow:items-center max-narrow:gap-x-3 max-narrow:py-2 max-narrow:border-t max-narrow:border-line"
      aria-current={isSelected || undefined}
      onFocus={() => onSelect(tree.name)}
    >
      <th scope="row" className={`${CELL} max-narrow:w-full`}>
        <Link
          id={linkId(tree)}
          href={`/trees/${tree.name}`}
          className="font-mono text-sm font-strong leading-normal no-underline hover:underline after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus focus-visible:after:-outline-offset-2"
        >
          {tree.name}
        </Link>{" "}
        {tree.origin === "operator" && (
          <span className="ml-2 text-ink-2 text-xs font-medium">
            {tree.shadows ? "yours, replaces the shipped one" : "yours"}
          </span>
        )}
        <p className="truncate text-ink-3">{tree.description}</p>
      </th>
      <td
        className={`${CELL} text-right! max-narrow:w-18 max-narrow:text-left! max-narrow:after:content-['_nodes'] max-narrow:after:text-ink-3`}
      >
        {tree.node_count === null ? "–" : number(tree.node_count)}
      </td>
      <td className={`${CELL} ${SECOND} ${tree.internal ? "text-ink-3" : ""}`}>
        {tree.internal ? users.join(", ") || "nothing" : ["questions", ...users].join(", ")}
      </td>
      <td className={`${CELL} max-narrow:w-32`}>
        <code>{tree.version?.slice(0, 7) ?? "–"}</code>{" "}
        {tree.changed_at && (
          <time className="text-ink-3" dateTime={tree.changed_at}>
            {ago(Date.parse(tree.changed_at))}
          </time>
        )}
        {tree.version_count !== null && (
          <p className="text-ink-3">
            <Link
              className="relative text-sm no-underline hover:underline"
              href={`/trees/${tree.name}?view=versions`}
            >
              {plural(tree.version_count, "version")}
            </Link>
          </p>
        )}
      </td>
      <td className={CELL}>
        <Runs tree={tree} />
      </td>
      {isOperator && (
        <td className={`${CELL} max-narrow:hidden`}>
          <Check tree={tree} />
        </td>
      )}
      {hasVerdicts && (
        <td className={`${CELL} ${THIRD}`}>
          <Verdict verified={tree.verified} />
        </td>
      )}
      {hasScenarios && (
        <td className={`${CELL} ${THIRD}`}>
          <Scenarios tested={tree.tested} />
        </td>
      )}
    </tr>
  );
}

const PARTS = ["completed", "stopped", "failed"] as const;

/** How the queries of a day have ended, as parts of a bar. */
function Runs({ tree }: { tree: TreeHead }) {
  const runs = tree.runs_of_day;
  const ended = PARTS.reduce((sum, part) => sum + runs[part], 0);
  const total = ended + runs.running;
  if (tree.internal) return <span className="text-ink-3">in other trees</span>;
  if (total === 0) return <span className="text-ink-3">none</span>;
  const words = PARTS.filter((part) => runs[part]).map((part) => `${runs[part]} ${part}`);
  return (
    <Link
      className="relative flex items-center gap-2 no-underline"
      href={`/runs?tree=${encodeURIComponent(tree.name)}`}
      aria-label={`${plural(total, "run")}: ${[...words, ...(runs.running ? [`${runs.running} running`] : [])].join(", ")}`}
    >
      <span className="flex w-24 gap-px">
        {PARTS.filter((part) => runs[part]).map((part) => (
          <i
            key={part}
            className={`h-2 min-w-0.5 rounded-[2px] ${FILLS[part]}`}
            style={{ flexGrow: runs[part] }}
          />
        ))}
      </span>
      {number(total)}
    </Link>
  );
}

const FILLS = { completed: "bg-ok-fill", stopped: "bg-warn-fill", failed: "bg-err-fill" };

function Check({ tree }: { tree: TreeHead }) {
  if (tree.mistake_count > 0) return <Mark kind="error" label={plural(tree.mistake_count, "mistake")} />;
  if (tree.warning_count > 0) return <Mark kind="warning" label={plural(tree.warning_count, "warning")} />;
  return <Mark kind="success" label="no mistakes" />;
}

const VERDICTS = {
  proven: { kind: "success", label: "proven" },
  refuted: { kind: "error", label: "refuted" },
  not_decided: { kind: "warning", label: "not decided" },
} as const;

function Verdict({ verified }: { verified: TreeHead["verified"] }) {
  if (!verified) return <span className="text-ink-3">–</span>;
  return (
    <>
      <Mark {...VERDICTS[verified.verdict]} />
      <span className="text-ink-3"> {plural(verified.turns, "turn")}</span>
      <When at={verified.at} />
    </>
  );
}

function Scenarios({ tested }: { tested: TreeHead["tested"] }) {
  if (!tested) return <span className="text-ink-3">–</span>;
  const { passed, scenarios, at } = tested;
  if (scenarios === 0) return <span className="text-ink-3">no scenarios</span>;
  return (
    <>
      <span
        className={passed < scenarios ? "text-err font-medium" : undefined}
      >{`${number(passed)} of ${number(scenarios)}`}</span>
      <When at={at} />
    </>
  );
}

/** When a result was found. */
function When({ at }: { at: string }) {
  return (
    <p className="text-ink-3">
      <time className="text-sm" dateTime={at}>
        {ago(Date.parse(at))}
      </time>
    </p>
  );
}
