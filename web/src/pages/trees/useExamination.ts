import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, unwrap } from "@/api/client";
import { useHasFeature } from "@/api/queries";
import { toast } from "@/parts/Toast";

import type { TreeHead } from "@/api/types";

interface Examination {
  /** The service has the features for it; the verifier is not there without scenarios. */
  isThere: boolean;
  isBusy: boolean;
  /** How many steps are still to be done. */
  left: number;
  begin: () => void;
}

/** Plays all scenarios and verifies every tree as it serves; the service keeps what it finds for the list. */
export function useExamination(trees: readonly TreeHead[]): Examination {
  const client = useQueryClient();
  const [left, setLeft] = useState(0);
  const hasScenarios = useHasFeature("scenarios");
  const hasVerifier = useHasFeature("verifier");

  const examine = async () => {
    const right = trees.filter((tree) => tree.mistake_count === 0);
    const [first] = right;
    if (first === undefined) return;
    const steps = [
      () => unwrap(api.POST("/api/trees/test", { body: { name: first.name } })), // plays the scenarios of all
      ...right
        .filter((tree) => hasVerifier && !tree.internal) // a part is verified in the trees that include it
        .map((tree) => () => unwrap(api.POST("/api/trees/verify", { body: { name: tree.name } }))),
    ];
    setLeft(steps.length);
    for (const step of steps) {
      try {
        await step(); // one at a time, as the service does them
      } catch (error) {
        toast(error instanceof Error ? error.message : "The service has not answered.");
      }
      setLeft((before) => before - 1);
      void client.invalidateQueries({ queryKey: ["trees"], exact: true });
    }
  };
  return { isThere: hasScenarios, isBusy: left > 0, left, begin: () => void examine() };
}
