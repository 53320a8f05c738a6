import { number, plural } from "@/parts/format";
import { cachedShare, commonestMiss } from "@/run/cache";
import { costWords, inputOf, sumsBy, type By, type Figures, type Report } from "./figures";

const MOST_ROWS = 500;
const HEADS = { day: "Day", user_id: "User", model: "Model" } as const;
const KINDS = [
  ["Input", "input_tokens"],
  ["Cache written", "cache_creation_tokens"],
  ["Cache read", "cache_read_tokens"],
  ["Output", "output_tokens"],
] as const;

const TABLE =
  "w-full border border-line rounded-md border-spacing-0 bg-surface tabular-nums aria-busy:grayscale [&_:is(th,td)]:h-8 [&_:is(th,td)]:py-0 [&_:is(th,td)]:px-2.5 max-narrow:[&_:is(th,td)]:px-1 [&_:is(th,td)]:text-right [&_:is(th,td)]:whitespace-nowrap [&_th:first-child]:max-w-65 [&_th:first-child]:overflow-hidden [&_th:first-child]:text-left [&_th:first-child]:text-ellipsis [&>thead_:is(th,td)]:text-ink-3 [&>thead_:is(th,td)]:text-sm [&>thead_:is(th,td)]:font-medium [&>tbody_:is(th,td)]:border-t [&>tbody_:is(th,td)]:border-line [&>tbody_th]:font-regular [&>tfoot_:is(th,td)]:sticky [&>tfoot_:is(th,td)]:bottom-0 [&>tfoot_:is(th,td)]:border-t [&>tfoot_:is(th,td)]:border-line-3 [&>tfoot_:is(th,td)]:bg-surface [&>tfoot_:is(th,td)]:font-strong";
const BAR = "w-[30%] pl-0! max-[1000px]:hidden";

interface UsageTableProps {
  report: Report;
  by: By;
  isBusy: boolean;
  /** A user is looked at alone. */
  onUser: (name: string) => void;
}

/** The sums by day, user or model, and those of all. */
export function UsageTable({ report, by, isBusy, onUser }: UsageTableProps) {
  const { currency, rows, totals } = report;
  const sums = sumsBy(by, rows);
  const most = Math.max(1, ...sums.map(([, sum]) => sum.tokens_used));
  const left = sums.length - MOST_ROWS;
  const hasMisses = commonestMiss(totals.cache_misses) !== "";
  const figures = (sum: Figures, share: number) => (
    <>
      <td>{number(sum.runs)}</td>
      <td className="max-narrow:hidden">{number(sum.turns)}</td>
      <td>
        {sum.is_estimated && "≈ "}
        {number(sum.tokens_used)}
      </td>
      <td className={BAR} aria-hidden="true">
        <i className="block h-1.5 rounded-[2px] bg-ink-3" style={{ width: `${share * 100}%` }} />
      </td>
      {KINDS.map(([, name]) => (
        <td key={name} className="max-narrow:hidden">
          {number(sum[name])}
        </td>
      ))}
      <td>{cachedShare(inputOf(sum))}</td>
      {hasMisses && <td className="max-narrow:hidden">{commonestMiss(sum.cache_misses)}</td>}
      {currency !== null && <td>{costWords(sum, currency)}</td>}
    </>
  );
  return (
    <table className={TABLE} aria-busy={isBusy}>
      <thead>
        <tr>
          <th scope="col">{HEADS[by]}</th>
          <th scope="col">Runs</th>
          <th scope="col" className="max-narrow:hidden">
            Turns
          </th>
          <th scope="col">Tokens</th>
          <td className={BAR} aria-hidden="true" />
          {KINDS.map(([label]) => (
            <th key={label} scope="col" className="max-narrow:hidden">
              {label}
            </th>
          ))}
          <th scope="col">Cached</th>
          {hasMisses && (
            <th scope="col" className="max-narrow:hidden">
              Cache missed because
            </th>
          )}
          {currency !== null && <th scope="col">Cost</th>}
        </tr>
      </thead>
      <tbody>
        {sums.slice(0, MOST_ROWS).map(([name, sum]) => (
          <tr key={name}>
            <th scope="row" title={name}>
              {by === "user_id" ? (
                <button type="button" className="text-button" onClick={() => onUser(name)}>
                  {name}
                </button>
              ) : (
                name || "none has answered"
              )}
            </th>
            {figures(sum, sum.tokens_used / most)}
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">{left > 0 ? `All; the CSV has ${plural(left, "more row")}` : "All"}</th>
          {figures(totals, 0)}
        </tr>
      </tfoot>
    </table>
  );
}
