import { Button } from "@/parts/Button";
import { duration, plural } from "@/parts/format";
import { Mark } from "@/parts/Mark";

import type { Mistake } from "../types";

interface ProblemsProps {
  name: string;
  problems: readonly Mistake[] | null;
  errors: number;
  checkSeconds: number | null;
  current: Mistake | null;
  onGoTo: (mistake: Mistake) => void;
  onFix: (mistake: Mistake, fix: number) => void;
}

/** The mistakes and warnings, with what can be done about each. */
export function Problems({ name, problems, errors, checkSeconds, current, onGoTo, onFix }: ProblemsProps) {
  return (
    <>
      <p className="visually-hidden" role="status">
        {problems === null ? "" : errors === 0 ? "No mistakes" : plural(errors, "mistake")}
      </p>
      <ul className="problems">
        {problems?.map((problem) => (
          <li key={`${problem.file} ${problem.line} ${problem.column} ${problem.code} ${problem.message}`}>
            <Mark kind={problem.severity} size={13} />
            <div className="problems-words">
              <button type="button" className="problems-place" onClick={() => onGoTo(problem)}>
                <b>{problem.message}</b>
                <code>
                  {problem.file === `${name}.yaml` ? "" : `${problem.file}:`}
                  {problem.line}:{problem.column}
                </code>
              </button>
              {problem.hint && <p>{problem.hint}</p>}
              {problem.file === `${name}.yaml` && problem.fixes.length > 0 && (
                <div className="problems-fixes">
                  {problem.fixes.map((fix, at) => (
                    <Button
                      key={fix.title}
                      size="small"
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
      {problems && errors === 0 && (
        <p className="editor-waits">
          <Mark kind="success" label={null} /> No mistakes
          {checkSeconds !== null && `, checked in ${duration(checkSeconds)}`}. The trees that include this
          file were checked with it.
        </p>
      )}
      {errors > 0 && (
        <p className="editor-waits">
          Scenarios, Verify and Replay wait until the file has no mistakes. The version that serves is not
          touched.
        </p>
      )}
    </>
  );
}
