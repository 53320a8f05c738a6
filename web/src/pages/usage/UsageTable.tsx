import { number, plural } from "@/parts/format";
import { costWords, sumsBy, type By, type Figures, type Report } from "./figures";
import "./usage.css";

const MOST_ROWS = 500;
const HEADS = { day: "Day", user_id: "User", model: "Model" } as const;
const KINDS = [
  ["Input", "input_tokens"],
  ["Cache written", "cache_creation_tokens"],
  ["Cache read", "cache_read_tokens"],
  ["Output", "output_tokens"],
] as const;

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
  const figures = (sum: Figures, share: number) => (
    <>
      <td>{number(sum.runs)}</td>
      <td className="usage-kind">{number(sum.turns)}</td>
      <td>
        {sum.is_estimated && "≈ "}
        {number(sum.tokens_used)}
      </td>
      <td className="usage-bar" aria-hidden="true">
        <i style={{ width: `${share * 100}%` }} />
      </td>
      {KINDS.map(([, name]) => (
        <td key={name} className="usage-kind">
          {number(sum[name])}
        </td>
      ))}
      {currency !== null && <td>{costWords(sum, currency)}</td>}
    </>
  );
  return (
    <table className="usage-table" aria-busy={isBusy}>
      <thead>
        <tr>
          <th scope="col">{HEADS[by]}</th>
          <th scope="col">Runs</th>
          <th scope="col" className="usage-kind">
            Turns
          </th>
          <th scope="col">Tokens</th>
          <td className="usage-bar" aria-hidden="true" />
          {KINDS.map(([label]) => (
            <th key={label} scope="col" className="usage-kind">
              {label}
            </th>
          ))}
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
          <th scope="row">
            {left > 0 ? `All, and ${plural(left, "row")} that are in the CSV alone` : "All"}
          </th>
          {figures(totals, 0)}
        </tr>
      </tfoot>
    </table>
  );
}
