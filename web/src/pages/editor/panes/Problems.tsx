import { Button } from "@/parts/Button";
import { duration, plural } from "@/parts/format";
import { Mark } from "@/parts/Mark";

import type { Mistake } from "../types";
import { Remark } from "./Trial";

interface ProblemsProps {
  name: string;
  problems: readonly Mistake[] | null;
  errors: number;
  /** No check is under way: without problems none are known before the text is saved. */
  isChecked: boolean;
  checkSeconds: number | null;
  current: Mistake | null;
  onGoTo: (mistake: Mistake) => void;
  onFix: (mistake: Mistake, fix: number) => void;
}

/** The mistakes and warnings, with what can be done about each. */
export function Problems(props: ProblemsProps) {
  const { name, problems, errors, isChecked, checkSeconds, current, onGoTo, onFix } = props;
  return (
    <>
      <p className="visually-hidden" role="status">
        {problems === null ? "" : errors === 0 ? "No mistakes" : plural(errors, "mistake")}
      </p>
      <ul>
        {problems?.map((problem) => (
          <li
            className="flex gap-2 py-3 px-4 border-b border-line"
            key={`${problem.file} ${problem.line} ${problem.column} ${problem.code} ${problem.message}`}
          >
            <Mark kind={problem.severity} size={13} className="mt-1" />
            <div className="flex-1 min-w-0">
              <button
                type="button"
                className="group flex gap-2 w-full p-0 border-0 bg-transparent text-left"
                onClick={() => onGoTo(problem)}
              >
                <b className="flex-1 min-w-0 font-medium wrap-anywhere">{problem.message}</b>
                <code className="text-ink-3 group-hover:underline">
                  {problem.file === `${name}.yaml` ? "" : `${problem.file}:`}
                  {problem.line}:{problem.column}
                </code>
              </button>
              {problem.hint && <p className="text-ink-3 wrap-anywhere">{problem.hint}</p>}
              {problem.file === `${name}.yaml` && problem.fixes.length > 0 && (
                <div className="flex flex-wrap gap-1 mt-1">
                  {problem.fixes.map((fix, at) => (
                    <Button
                      key={fix.title}
                      size="small"
                      className="py-0.5! whitespace-normal! text-left wrap-anywhere"
                      {...(at === 0 && problem === current && { keys: "mod+." })}
                      onClick={() => onFix(problem, at)}
                    >
                      {fix.title}
                    </Button>
                  ))}
                </div>
              )}
            </div>
          </li>
        ))}
      </ul>
      {!problems && isChecked && <Remark>The text is checked when it is saved.</Remark>}
      {problems && errors === 0 && (
        <Remark>
          <Mark kind="success" label={null} /> No mistakes
          {checkSeconds !== null && `, checked in ${duration(checkSeconds)}`}. The trees that include this
          file were checked with it.
        </Remark>
      )}
      {errors > 0 && <Remark>Fix the mistakes to run trials. The version in use is unchanged.</Remark>}
    </>
  );
}
