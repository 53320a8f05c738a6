import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { Button } from "@/parts/Button";
import { Problem } from "@/parts/Problem";

import type { Timed } from "../calls";

/** The text that a trial is about, and whether it is right and at rest. */
export interface TrialProps {
  name: string;
  text: string;
  isReady: boolean;
}

interface TrialResultProps<Result> {
  query: UseQueryResult<Timed<Result>>;
  isReady: boolean;
  /** What is being done: "Playing the scenarios". */
  busy: string;
  children: (found: Timed<Result>) => ReactNode;
}

/** A sentence across the pane. */
export function Remark({ children, role }: { children: ReactNode; role?: "status" }) {
  return (
    <p className="py-3 px-4 border-b border-line text-ink-3" role={role}>
      {children}
    </p>
  );
}

/** The state of a trial: it waits, runs, has failed, or has a result. */
export function TrialResult<Result>({ query, isReady, busy, children }: TrialResultProps<Result>) {
  if (query.data) return children(query.data);
  if (query.error) {
    return (
      <div className="grid gap-3 justify-items-start p-4 text-ink-2">
        <Problem tone="plain" title="Not known.">
          {query.error.message}
        </Problem>
        <Button size="small" onClick={() => void query.refetch()}>
          Try again
        </Button>
      </div>
    );
  }
  return <Remark role="status">{isReady ? `${busy}…` : "Starts when you stop typing."}</Remark>;
}
