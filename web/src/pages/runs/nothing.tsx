/** The list without runs: none was ever made, or none matches. */
import { Button, LinkButton } from "@/parts/Button";
import { EmptyState } from "@/parts/EmptyState";
import { SearchIcon } from "@/parts/icons";
import { reasonWords } from "./FilterBar";
import { SINCE, type RunFilters } from "./filters";

export function NoRuns() {
  return (
    <EmptyState
      icon={
        <svg className="fill-line-2" width="72" height="14" viewBox="0 0 72 14" aria-hidden="true">
          <path d="M0 2h22v7H0zM25 2h28v7H25zM56 2h16v7H56z" />
          <path d="M22 11h2v3h-2zM53 11h2v3h-2z" />
        </svg>
      }
      title="No runs yet"
      action={
        <>
          <LinkButton href="/" variant="primary">
            Ask a question
          </LinkButton>
          <code className="mt-2 text-ink-3">
            oracle ask &quot;How are mistakes in a tree file reported?&quot;
          </code>
        </>
      }
    >
      Each question is recorded as a run. Ask one, then watch the tree decide.
    </EmptyState>
  );
}

const WORDS = {
  queued: "queued",
  running: "under way",
  parked: "waiting for a person",
  completed: "completed",
  stopped: "stopped",
  failed: "failed",
} as const;

export function NoMatch({ filters, onClear }: { filters: RunFilters; onClear: () => void }) {
  const { search, outcome, reason, tree, since, isSlow, hasErrors } = filters;
  const parts = [
    { ...WORDS, all: false as const }[outcome],
    reason && reasonWords(reason),
    search && `“${search}”`,
    tree && `tree ${tree}`,
    isSlow && "over 10 s",
    hasErrors && "node error",
  ].filter(Boolean);
  return (
    <EmptyState
      icon={<SearchIcon size={20} />}
      title="No run matches"
      action={<Button onClick={onClear}>Clear the filters</Button>}
    >
      <code>{parts.join(" · ")}</code>
      {since && ` in ${SINCE[since].words}.`}
    </EmptyState>
  );
}
