/** Short names of the parts of a run's history, as the service describes them. */
import type { components } from "@/api/schema";

type Schemas = components["schemas"];

export type BreachFacts = Schemas["BreachFacts"];
export type CallFacts = Schemas["CallFacts"];
export type ClauseFacts = Schemas["ClauseFacts"];
export type DebugFacts = Schemas["DebugFacts"];
export type DecisionFacts = Schemas["DecisionFacts"];
export type EndEvent = Schemas["EndEvent"];
export type EndFacts = Schemas["EndFacts"];
export type EvaluationFacts = Schemas["EvaluationFacts"];
export type HistoryPage = Schemas["HistoryPage"];
export type InterruptFacts = Schemas["InterruptFacts"];
export type KeyFacts = Schemas["KeyFacts"];
export type NodeFacts = Schemas["NodeFacts"];
export type NoticeFacts = Schemas["NoticeFacts"];
export type RowFacts = Schemas["RowFacts"];
export type RunFacts = Schemas["RunFacts"];
export type SeamFacts = Schemas["SeamFacts"];
export type SignalFacts = Schemas["SignalFacts"];
export type StepFacts = Schemas["StepFacts"];
export type TextFacts = Schemas["TextFacts"];
export type TickEvent = Schemas["TickEvent"];
export type TickFacts = Schemas["TickFacts"];
export type TreeFacts = Schemas["TreeFacts"];
export type TurnFacts = Schemas["TurnFacts"];
export type VisitFacts = Schemas["VisitFacts"];
