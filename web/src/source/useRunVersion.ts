import { useSyncExternalStore } from "react";
import type { RunModel } from "@/run/model";

/** The version of a model; the component renders again with each change of the model. */
export function useRunVersion(model: RunModel): number {
  return useSyncExternalStore(model.subscribe, model.getVersion);
}
