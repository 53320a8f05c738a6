import { useQuery } from "@tanstack/react-query";

import { duration } from "@/parts/format";
import { Mark } from "@/parts/Mark";

import { trials } from "../calls";
import type { ScenarioFile, ScenarioResult } from "../types";
import { scenarioCounts } from "./scenarioCounts";
import { TrialResult, type TrialProps } from "./Trial";

/** All scenarios, played with the text in place: those that fail first. */
export function Scenarios({ name, text, isReady }: TrialProps) {
  const played = useQuery({ ...trials.test(name, text), enabled: isReady });
  return (
    <TrialResult query={played} isReady={isReady} busy="Playing the scenarios">
      {({ result, seconds }) => {
        const counts = scenarioCounts(result.files);
        return (
          <>
            <header className="trial-head">
              <Mark kind={result.passed ? "success" : "error"} size={13} label={null} />
              <h2>
                {counts.passed} of {counts.all} pass
              </h2>
              <span>{duration(seconds)}</span>
            </header>
            {[...result.files].sort(failingFirst).map((file) => (
              <File key={file.file} file={file} />
            ))}
          </>
        );
      }}
    </TrialResult>
  );
}

const failingFirst = (a: ScenarioFile, b: ScenarioFile) => Number(a.passed) - Number(b.passed);

function File({ file }: { file: ScenarioFile }) {
  const passed = file.scenarios.filter((each) => each.passed).length;
  return (
    <details className="scenario-file" open={!file.passed}>
      <summary>
        <Mark kind={file.passed ? "success" : "error"} size={13} label={file.passed ? "passes" : "fails"} />
        <span className="truncate">{file.file.replace(/\.yaml$/, "")}</span>
        <span className="scenario-file-count">
          {passed} of {file.scenarios.length}
        </span>
      </summary>
      {file.mistakes && <pre>{file.mistakes}</pre>}
      <ul>
        {[...file.scenarios]
          .sort((a, b) => Number(a.passed) - Number(b.passed))
          .map((scenario) => (
            <li key={scenario.name}>
              <Mark
                kind={scenario.passed ? "success" : "error"}
                size={11}
                label={scenario.passed ? "passes" : "fails"}
              />
              <div>
                {scenario.name}
                {!scenario.passed && <Reasons scenario={scenario} />}
              </div>
            </li>
          ))}
      </ul>
    </details>
  );
}

/** What was expected, and what came. */
function Reasons({ scenario }: { scenario: ScenarioResult }) {
  return (
    <>
      {scenario.problem && <p>{scenario.problem}</p>}
      {scenario.differences?.map((difference) => (
        <dl key={`${difference.line} ${words(difference.expected)}`}>
          <dt>expected</dt>
          <dd>{words(difference.expected)}</dd>
          <dt>got</dt>
          <dd>{words(difference.got)}</dd>
          <dt>in line</dt>
          <dd>
            {difference.line}
            {difference.hint && `: ${difference.hint}`}
          </dd>
        </dl>
      ))}
    </>
  );
}

const words = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
