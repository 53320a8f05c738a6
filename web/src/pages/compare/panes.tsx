/** The panes beside the source: where the runs part, their answers, and what differs between their trees. */
import { duration, number } from "@/parts/format";
import type { RunModel } from "@/run/model";
import { outcomeOf } from "@/run/outcome";
import { boardDifferences, type Difference, type LineDifference } from "./differences";

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
    <div className="compare-pane">
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
        <table>
          <thead>
            <tr>
              <th scope="col">key</th>
              <th scope="col">
                <i className="strip-letter strip-A">A</i>
              </th>
              <th scope="col">
                <i className="strip-letter">B</i>
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
            <tr className="compare-same">
              <th scope="row">
                {board.different.length > 0 ? `${board.same} more keys` : `${board.same} keys`}
              </th>
              <td colSpan={2}>the same</td>
            </tr>
          </tbody>
        </table>
      </section>
      <section>
        <h2>What came of it</h2>
        <table>
          <tbody>
            {outcomes(a, b).map(([what, one, other]) => (
              <tr key={what} className={one === other ? "compare-same" : undefined}>
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
  if (difference.answers.length === 0) return <p className="compare-none">Neither run has an answer.</p>;
  return (
    <div className="compare-pane">
      {difference.answers.map(({ turn, old, new: other }) => (
        <section key={turn}>
          <h2>
            Turn {turn}
            {old === other && <span className="compare-note"> the same in both</span>}
          </h2>
          {old !== other && <TwoTexts a={old} b={other} />}
        </section>
      ))}
    </div>
  );
}

function TwoTexts({ a, b }: { a: string | null; b: string | null }) {
  return (
    <div className="compare-two">
      {Object.entries({ A: a, B: b }).map(([letter, each]) => (
        <div key={letter}>
          <i className={`strip-letter strip-${letter}`}>{letter}</i>
          {each === null ? (
            <p className="compare-note">not there</p>
          ) : each === "" ? (
            <p className="compare-note">no text</p>
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
      <p className="compare-none">
        {a.run.tree_version === b.run.tree_version
          ? "Both ran on the same version of the tree."
          : "The versions differ in nothing that is kept of both."}
      </p>
    );
  return (
    <div className="compare-pane">
      <section>
        <h2>Lines</h2>
        {lines.map((each) => (
          <Lines key={`${each.file}:${each.line}`} lines={each} a={a} b={b} />
        ))}
      </section>
      <section>
        <h2>Nodes</h2>
        <ul className="compare-nodes">
          {changes.map((change) => (
            <li key={`${change.kind} ${change.what}`}>
              <strong>{change.kind}</strong>{" "}
              <code title={change.what}>{change.what.split("/").slice(-2).join("/")}</code>
              {change.text && <p>{change.text}</p>}
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
    <figure className="compare-lines">
      <pre>
        {lines.removed.map((line, index) => (
          <del key={index}>- {bare(line)}</del>
        ))}
        {lines.added.map((line, index) => (
          <ins key={index}>+ {bare(line)}</ins>
        ))}
      </pre>
      <figcaption>
        {lines.file}:{lines.line} · changed between {short(a)} and {short(b)}
      </figcaption>
    </figure>
  );
}
