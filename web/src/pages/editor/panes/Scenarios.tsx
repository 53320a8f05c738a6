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
            <header className="flex items-center gap-2 py-3 px-4">
              <Mark kind={result.passed ? "success" : "error"} size={13} label={null} />
              <h2 className="flex-1 text-md">
                {counts.passed} of {counts.all} pass
              </h2>
              <span className="text-ink-3">{duration(seconds)}</span>
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
    <details className="border-t border-line" open={!file.passed}>
      <summary className="flex items-center gap-2 min-h-8 px-4 cursor-pointer">
        <Mark kind={file.passed ? "success" : "error"} size={13} label={file.passed ? "passes" : "fails"} />
        <span className="flex-1 truncate">{file.file.replace(/\.yaml$/, "")}</span>
        <span className="text-ink-3 text-sm">
          {passed} of {file.scenarios.length}
        </span>
      </summary>
      {file.mistakes && <pre>{file.mistakes}</pre>}
      <ul className="pr-4 pb-2 pl-9">
        {[...file.scenarios]
          .sort((a, b) => Number(a.passed) - Number(b.passed))
          .map((scenario) => (
            <li key={scenario.name} className="flex gap-2 py-0.5 text-ink-2">
              <Mark
                kind={scenario.passed ? "success" : "error"}
                size={11}
                className="mt-1"
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

const VALUE = "font-mono text-xs wrap-anywhere whitespace-pre-wrap";

/** What was expected, and what came. */
function Reasons({ scenario }: { scenario: ScenarioResult }) {
  return (
    <>
      {scenario.problem && <p>{scenario.problem}</p>}
      {scenario.differences?.map((difference) => (
        <dl
          className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-2 py-1 text-sm"
          key={`${difference.line} ${words(difference.expected)}`}
        >
          <dt className="text-ink-3">expected</dt>
          <dd className={VALUE}>{words(difference.expected)}</dd>
          <dt className="text-ink-3">got</dt>
          <dd className={VALUE}>{words(difference.got)}</dd>
          <dt className="text-ink-3">in line</dt>
          <dd className={VALUE}>
            {difference.line}
            {difference.hint && `: ${difference.hint}`}
          </dd>
        </dl>
      ))}
    </>
  );
}

const words = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
