export type * from "./interface";
export { markKind } from "./markKind";
export { Overview } from "./Overview";
export { SourceView } from "./SourceView";
export { useExplained } from "./useExplained";
export { useRunVersion } from "./useRunVersion";
