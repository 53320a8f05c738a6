/** The panes beside the source: where the runs part, their answers, and what differs between their trees. */
import { duration, number } from "@/parts/format";
import type { RunModel } from "@/run/model";
import { outcomeOf } from "@/run/outcome";
import { boardDifferences, type Difference, type LineDifference } from "./differences";
import { Letter } from "./Strips";

const PANE = "py-3 px-4 [&>section+section]:mt-5 [&_h2]:mb-1 [&_h2]:text-ink-2 [&_h2]:text-xs";
const TABLE =
  "w-full border-collapse font-mono text-sm table-fixed [&_tr]:border-b [&_tr]:border-line [&_:is(th,td)]:pt-0.75 [&_:is(th,td)]:pr-1.5 [&_:is(th,td)]:pb-0.5 [&_:is(th,td)]:pl-0 [&_:is(th,td)]:font-regular [&_:is(th,td)]:text-left [&_:is(th,td)]:wrap-anywhere [&_:is(th,td)]:align-top [&_th:first-child]:w-[49%]";
/** Keys stand above their values, which have half of the width each. */
const BELOW =
  "[&_tr]:grid [&_tr]:grid-cols-2 [&_tr]:gap-x-3 [&_:is(th[scope=row],td[colspan])]:col-span-full [&_th[scope=row]]:w-full! [&_th[scope=row]]:text-ink-2 [&_th[scope=row]]:pb-0!";
const LINE = "block mb-0.5 py-px px-2 rounded-sm no-underline";

interface Pair {
  a: RunModel;
  b: RunModel;
}

interface WhereProps extends Pair {
  atA: number;
  atB: number;
  difference: Difference;
  lines: readonly LineDifference[];
}

export function WherePane({ a, b, atA, atB, difference, lines }: WhereProps) {
  const board = boardDifferences(a, b, atA, atB);
  return (
    <div className={PANE}>
      {difference.input && (
        <section>
          <h2>What came from outside first differs in tick {difference.input.tick}</h2>
          <TwoTexts a={difference.input.old ?? ""} b={difference.input.new ?? ""} />
        </section>
      )}
      {lines.length > 0 && (
        <section>
          <h2>{lines.length === 1 ? "The line that differs" : "Lines that differ"}</h2>
          {lines.slice(0, 3).map((each) => (
            <Lines key={`${each.file}:${each.line}`} lines={each} a={a} b={b} />
          ))}
        </section>
      )}
      <section>
        <h2>Blackboard after tick {a.ticks[atA]?.tick ?? 0}</h2>
        <table className={`${TABLE} ${BELOW}`}>
          <thead>
            <tr>
              <th scope="col" className="sr-only w-px!">
                key
              </th>
              <th scope="col">
                <Letter>A</Letter>
              </th>
              <th scope="col">
                <Letter>B</Letter>
              </th>
            </tr>
          </thead>
          <tbody>
            {board.different.map((each) => (
              <tr key={each.key}>
                <th scope="row">{each.key}</th>
                <td title={text(each.a, 2_000)}>{text(each.a)}</td>
                <td title={text(each.b, 2_000)}>{text(each.b)}</td>
              </tr>
            ))}
            <tr className="text-ink-3">
              <th scope="row">
                {board.different.length > 0 ? `${board.same} more keys` : `${board.same} keys`}
              </th>
              <td colSpan={2}>the same</td>
            </tr>
          </tbody>
        </table>
      </section>
      <section>
        <h2>Outcome</h2>
        <table className={TABLE}>
          <tbody>
            {outcomes(a, b).map(([what, one, other]) => (
              <tr key={what} className={one === other ? "text-ink-3" : undefined}>
                <th scope="row">{what}</th>
                <td>{one}</td>
                <td>{other}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

function outcomes(a: RunModel, b: RunModel): [string, string, string][] {
  const row = (what: string, of: (model: RunModel) => string): [string, string, string] => [
    what,
    of(a),
    of(b),
  ];
  return [
    row("end", ({ run }) => outcomeOf(run).words),
    row("turns", ({ run }) => number(run.turns)),
    row("tokens", ({ run }) => number(run.tokens_used)),
    row("time", ({ ticks }) => duration(ticks.at(-1)?.at_s ?? 0)),
    row("tool calls", ({ calls }) => number(calls.length)),
    row("sources", ({ texts }) => number(texts.filter((each) => each.type === "source").length)),
    row("notices", ({ notices }) => number(notices.length)),
  ];
}

function text(value: unknown, most = 60): string {
  if (value === undefined) return "—";
  const json = typeof value === "number" ? number(value) : JSON.stringify(value);
  return json.length > most ? `${json.slice(0, most - 1)}…` : json;
}

/** What the model answered in each turn, beside each other; equal answers are one line. */
export function AnswersPane({ difference }: { difference: Difference }) {
  if (difference.answers.length === 0) return <p className="p-4 text-ink-3">Neither run has an answer.</p>;
  return (
    <div className={PANE}>
      {difference.answers.map(({ turn, old, new: other }) => (
        <section key={turn}>
          <h2>
            Turn {turn}
            {old === other && <span className="text-ink-3 font-regular"> the same in both</span>}
          </h2>
          {old !== other && <TwoTexts a={old} b={other} />}
        </section>
      ))}
    </div>
  );
}

function TwoTexts({ a, b }: { a: string | null; b: string | null }) {
  return (
    <div className="grid grid-cols-[1fr_1fr] gap-3 text-sm [&_p]:mt-1 [&_p]:whitespace-pre-wrap [&_p]:wrap-anywhere">
      {Object.entries({ A: a, B: b }).map(([letter, each]) => (
        <div key={letter}>
          <Letter>{letter}</Letter>
          {each === null ? (
            <p className="text-ink-3">not there</p>
          ) : each === "" ? (
            <p className="text-ink-3">no text</p>
          ) : (
            <p>{each}</p>
          )}
        </div>
      ))}
    </div>
  );
}

interface TreeProps extends Pair {
  difference: Difference;
  lines: readonly LineDifference[];
}

export function TreePane({ a, b, difference, lines }: TreeProps) {
  const changes = difference.tree ?? [];
  if (lines.length === 0 && changes.length === 0)
    return (
      <p className="p-4 text-ink-3">
        {a.run.tree_version === b.run.tree_version
          ? "Both ran on the same version of the tree."
          : "What is kept of both versions does not differ."}
      </p>
    );
  return (
    <div className={PANE}>
      <section>
        <h2>Lines</h2>
        {lines.map((each) => (
          <Lines key={`${each.file}:${each.line}`} lines={each} a={a} b={b} />
        ))}
      </section>
      <section>
        <h2>Nodes</h2>
        <ul className="list-none text-sm">
          {changes.map((change) => (
            <li key={`${change.kind} ${change.what}`}>
              <strong>{change.kind}</strong>{" "}
              <code title={change.what}>{change.what.split("/").slice(-2).join("/")}</code>
              {change.text && <p className="text-ink-3 wrap-anywhere">{change.text}</p>}
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

/** A line without its indent and the dash of its list: the sign before it is that of the difference. */
const bare = (line: string): string => line.trim().replace(/^- /, "");

function Lines({ lines, a, b }: { lines: LineDifference } & Pair) {
  const short = (model: RunModel) => model.run.tree_version?.slice(0, 7) ?? "?";
  return (
    <figure className="mb-2.5">
      <pre className="text-sm whitespace-pre-wrap wrap-anywhere">
        {lines.removed.map((line, index) => (
          <del key={index} className={`${LINE} bg-(--del)`}>
            - {bare(line)}
          </del>
        ))}
        {lines.added.map((line, index) => (
          <ins key={index} className={`${LINE} bg-(--add)`}>
            + {bare(line)}
          </ins>
        ))}
      </pre>
      <figcaption className="text-ink-3 text-sm">
        {lines.file}:{lines.line} · changed between {short(a)} and {short(b)}
      </figcaption>
    </figure>
  );
}
