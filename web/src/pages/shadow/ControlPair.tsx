import { useId } from "react";
import { Link } from "wouter";
import type { components } from "@/api/schema";
import { number, plural, reasonText } from "@/parts/format";
import { Mark } from "@/parts/Mark";
import { mean, measureName, percent, range, shareName, signed, verdictOf } from "./figures";

const TABLE =
  "border-collapse [&>caption]:pb-1 [&>caption]:font-strong [&>caption]:text-left [&_:is(th,td)]:py-1.25 [&_:is(th,td)]:pr-3 [&_:is(th,td)]:pl-0 [&_:is(th,td)]:font-regular [&_:is(th,td)]:text-left [&>thead_th]:text-ink-3 [&>thead_th]:text-sm [&>tbody_:is(th,td)]:border-t [&>tbody_:is(th,td)]:border-line";
const NUMBER = "text-right! whitespace-nowrap";

type Group = components["schemas"]["ControlPair"];
type Pair = Group["worst"][number];

/** The pairs of two controls: how often they agree, what the shadow's one saves, and where they disagree most. */
export function ControlPair({ group }: { group: Group }) {
  const id = useId();
  return (
    <section className="my-4 p-4 border border-line rounded-md bg-surface" aria-labelledby={id}>
      <h2 id={id} className="wrap-anywhere">
        <code>{group.primary}</code>{" "}
        <span className="text-ink-3 font-regular">is what users see, beside it</span>{" "}
        <code>{group.shadow}</code>
      </h2>
      <p className="text-ink-3">
        {plural(group.pairs, "pair")}, {number(group.compared)} compared
        {group.compared < group.pairs && "; a pair with an error counts in no mean"}
        {group.would_call > 0 && ` · ${plural(group.would_call, "writing call")} noted and not made`}
      </p>
      {group.compared > 0 && (
        <div className="flex flex-wrap gap-y-4 gap-x-6 my-3 mx-0 max-narrow:overflow-x-auto">
          <Agreements group={group} />
          <Measures group={group} />
        </div>
      )}
      <Ends group={group} />
      <Worst pairs={group.worst} />
    </section>
  );
}

function Agreements({ group }: { group: Group }) {
  return (
    <table className={TABLE}>
      <caption>Agreement</caption>
      <thead>
        <tr>
          <th scope="col">Both have the</th>
          <th scope="col" className={NUMBER}>
            Share
          </th>
          <th scope="col" className={NUMBER}>
            95 %
          </th>
        </tr>
      </thead>
      <tbody>
        {group.agreement.map(({ name, share }) => (
          <tr key={name}>
            <th scope="row">{shareName(name)}</th>
            <td className={NUMBER}>{percent(share.estimate)}</td>
            <td className={`${NUMBER} text-ink-3`}>
              {share.low === null || share.high === null
                ? "–"
                : `${percent(share.low)} to ${percent(share.high)}`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const VERDICTS = {
  less: { kind: "success", label: "the shadow needs less" },
  more: { kind: "warning", label: "the shadow needs more" },
  open: { kind: "halted", label: "not decided" },
} as const;

function Measures({ group }: { group: Group }) {
  return (
    <table className={TABLE}>
      <caption>Per question</caption>
      <thead>
        <tr>
          <th scope="col">Mean</th>
          <th scope="col" className={NUMBER}>
            Users
          </th>
          <th scope="col" className={NUMBER}>
            Shadow
          </th>
          <th scope="col" className={NUMBER}>
            Difference
          </th>
          <th scope="col" className={NUMBER}>
            95 %
          </th>
          <th scope="col" aria-label="Verdict" />
        </tr>
      </thead>
      <tbody>
        {group.measures.map(({ name, primary, shadow, difference, relative }) => (
          <tr key={name}>
            <th scope="row">{measureName(name)}</th>
            <td className={NUMBER}>{mean(primary)}</td>
            <td className={NUMBER}>{mean(shadow)}</td>
            <td className={NUMBER}>
              {signed(difference.estimate)}
              {relative !== null && <span className="text-ink-3"> {percent(relative)}</span>}
            </td>
            <td className={`${NUMBER} text-ink-3`}>{range(difference)}</td>
            <td>
              <Mark {...VERDICTS[verdictOf(difference)]} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Ends({ group }: { group: Group }) {
  const unlike = group.ends.filter(({ primary, shadow }) => primary !== shadow);
  if (unlike.length === 0) return null;
  return (
    <ul
      className="flex flex-wrap gap-y-2 gap-x-4 mt-2 mx-0 mb-3 p-0 list-none"
      aria-label="Different outcomes"
    >
      {unlike.map(({ primary, shadow, count }) => (
        <li key={`${primary} ${shadow}`}>
          {reasonText(primary)} → {reasonText(shadow)} <strong>{number(count)}</strong>
        </li>
      ))}
    </ul>
  );
}

function Worst({ pairs }: { pairs: readonly Pair[] }) {
  if (pairs.length === 0) return <p className="text-ink-3">No pair disagrees.</p>;
  return (
    <table className={`${TABLE} w-full table-fixed [&_td]:overflow-hidden [&_td]:text-ellipsis`}>
      <caption>Where they disagree most</caption>
      <thead>
        <tr>
          <th scope="col">Question</th>
          <th scope="col" className={`${NUMBER} w-21`}>
            Similarity
          </th>
          <th scope="col" className="w-47.5 max-narrow:hidden">
            Ends
          </th>
          <th scope="col" className="max-narrow:hidden">
            First difference
          </th>
          <th scope="col" className="w-32">
            Runs
          </th>
        </tr>
      </thead>
      <tbody>
        {pairs.map((pair) => (
          <tr key={pair.primary_run_id}>
            <th scope="row">
              <Link
                className="block truncate"
                href={`/compare/${pair.primary_run_id}/${pair.shadow_run_id}`}
                title={pair.question}
              >
                {pair.question || "(the question was deleted)"}
              </Link>
            </th>
            <td className={NUMBER}>{pair.similarity.toFixed(2)}</td>
            <td className="max-narrow:hidden">{endsOf(pair)}</td>
            <td className="max-narrow:hidden">
              {pair.parting ? partingOf(pair.parting) : <span className="text-ink-3">nowhere</span>}
            </td>
            <td>
              <Link href={`/runs/${pair.primary_run_id}`}>users’</Link> ·{" "}
              <Link href={`/runs/${pair.shadow_run_id}`}>shadow</Link>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const endsOf = ({ primary, shadow }: Pair) =>
  primary.reason === shadow.reason
    ? reasonText(primary.reason)
    : `${reasonText(primary.reason)} → ${reasonText(shadow.reason)}`;

type Decision = NonNullable<NonNullable<Pair["parting"]>["primary"]>;

function partingOf({ primary, shadow }: NonNullable<Pair["parting"]>): string {
  const turn = (primary ?? shadow)?.turn;
  return `${turn ? `turn ${number(turn)}: ` : ""}${decisionOf(primary)} → ${decisionOf(shadow)}`;
}

function decisionOf(decision: Decision | null): string {
  if (!decision) return "had ended";
  if (decision.kind === "calls") return (decision.tools ?? []).join(", ");
  return decision.kind === "end" ? `ends: ${reasonText(decision.reason ?? "")}` : "text, and another turn";
}
