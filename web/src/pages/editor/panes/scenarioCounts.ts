import type { ScenarioFile } from "../types";

export interface ScenarioCounts {
  passed: number;
  all: number;
}

/** How many scenarios pass; a file that cannot be read counts as one that does not. */
export function scenarioCounts(files: readonly ScenarioFile[]): ScenarioCounts {
  let passed = 0;
  let all = 0;
  for (const file of files) {
    passed += file.scenarios.filter((each) => each.passed).length;
    all += Math.max(file.scenarios.length, file.mistakes ? 1 : 0);
  }
  return { passed, all };
}
