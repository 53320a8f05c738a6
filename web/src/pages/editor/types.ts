/** Short names of what the editor shows of the service. */
import type { Schemas } from "@/api/types";

export type Tree = Schemas["TreeBody"];
export type TreeHead = Schemas["TreeHead"];
export type Mistake = Schemas["TreeMistake"];
export type Fix = Schemas["FixBody"];
export type Proposal = Schemas["TreeCompletion"];
export type Conflict = Schemas["TreeConflict"];
export type ReplayedRun = Schemas["ReplayedRun"];
export type ScenarioFile = Schemas["ScenarioFile"];
export type ScenarioResult = Schemas["ScenarioResult"];
export type Verification = Schemas["TreeVerification"];
export type Explanation = Schemas["TreeExplanation"];
export type Version = Schemas["TreeEditBody"];
export type NodeAnswers = Schemas["NodeAnswers"];
export type ReplayDifference = Schemas["FirstDifference"];
export type ReplayTrack = Schemas["Track"];
export type ReplayedCell = Schemas["Cell"];
