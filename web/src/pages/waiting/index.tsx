/** What runs ask people, of all conversations: approvals and questions, and what needs no approval any more. */
import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { Link } from "wouter";
import { deliver, grantsQuery, type Pending, usePending, withdrawGrant } from "@/api/people";
import { useMe } from "@/api/queries";
import { Button } from "@/parts/Button";
import { EmptyState } from "@/parts/EmptyState";
import { ago, plural } from "@/parts/format";
import { stateOf, type Decision } from "@/parts/interrupts/asking";
import { ApproveAll, InterruptCard } from "@/parts/interrupts/InterruptCard";
import { Skeleton } from "@/parts/Skeleton";
import { toast } from "@/parts/Toast";
import { useTitle } from "@/store/title";
import { byRun } from "./byRun";

export default function Waiting() {
  useTitle("Waiting");
  const { data, error, isPending } = usePending();
  const heading = useRef<HTMLHeadingElement>(null);
  if (error && !data)
    return (
      <EmptyState isPage title="This list cannot be loaded">
        {error.message}
      </EmptyState>
    );
  return (
    <div className="h-full py-4 px-5 overflow-auto max-narrow:p-3">
      <div className="max-w-[720px] mx-auto">
        <h1 ref={heading} tabIndex={-1} className="mb-3 outline-none">
          Waiting for a person
        </h1>
        {isPending ? (
          <Skeleton label="Loading the list" />
        ) : data.pending.length ? (
          byRun(data.pending).map((asked) => (
            // What was decided goes: the focus goes on at the top.
            <RunView key={asked[0].run_id} asked={asked} onDecided={() => heading.current?.focus()} />
          ))
        ) : (
          <EmptyState title="Nothing waits for an answer">
            When a tree asks for an approval or an answer, you find it here.
          </EmptyState>
        )}
        {data?.next && <p className="text-ink-3">Answer some of these to see more.</p>}
        <Grants />
      </div>
    </div>
  );
}

interface RunViewProps {
  asked: readonly [Pending, ...Pending[]];
  onDecided: () => void;
}

/** What one run asks. */
function RunView({ asked, onDecided }: RunViewProps) {
  const [{ run_id: runId, context_id: contextId, user_id: userId, question, tree }] = asked;
  const { data: me } = useMe();
  const isOwn = userId === me?.user_id;
  const decide = async (id: string, made: Decision) => {
    const [interrupt] = await deliver(runId, [{ id, ...made }]);
    if (!interrupt) throw new Error("The service did not report the result.");
    toast(`${interrupt.tool_name ?? "The question"}: ${stateOf(interrupt).words}`);
    onDecided();
    return interrupt;
  };
  const mine = asked.filter((each) => each.may_answer).map(({ interrupt }) => interrupt);
  return (
    <section className="mb-6" aria-label={`Run ${runId.slice(0, 8)}`}>
      <h2 className="mb-1 text-base wrap-anywhere">{question || "A question whose text was deleted"}</h2>
      <p className="flex flex-wrap items-baseline gap-x-3 mb-1.5 text-ink-3 text-sm">
        <Link href={`/runs/${runId}`}>
          Run <code>{runId.slice(0, 8)}</code>
        </Link>
        {isOwn && <Link href={`/chat/${contextId}`}>Conversation</Link>}
        <span>asked by {isOwn ? "you" : userId}</span>
        {tree && (
          <span>
            tree <code>{tree}</code>
          </span>
        )}
        <span>{ago(Date.parse(asked[0].asked_at))}</span>
      </p>
      <ul className="flex flex-col gap-2 list-none">
        {asked.map(({ interrupt, may_answer: isMine }) => (
          <li key={interrupt.id}>
            <InterruptCard
              interrupt={interrupt}
              read={
                interrupt.read_before && (
                  <p className="mt-1 text-sm">
                    <Link href={`/runs/${runId}?tab=answer`}>Show what was read</Link>
                  </p>
                )
              }
              onDecide={isMine ? (made) => decide(interrupt.id, made) : undefined}
            />
          </li>
        ))}
      </ul>
      <ApproveAll
        interrupts={mine}
        onDecide={async (deliveries) => {
          await deliver(runId, deliveries);
          toast(`${plural(deliveries.length, "approval")} given`);
          onDecided();
        }}
      />
    </section>
  );
}

/** What needs no approval in a conversation any more, because a person has allowed it. */
function Grants() {
  const { data } = useQuery(grantsQuery);
  if (!data?.grants.length) return null;
  return (
    <section className="mt-8" aria-labelledby="grants">
      <h2 id="grants">Allowed without approval</h2>
      <p className="mb-2 text-ink-3">These tools were allowed for a whole conversation.</p>
      <ul className="list-none">
        {data.grants.map(({ id, action, context_id: contextId, by, at }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-3 py-1 border-t border-line">
            <code>{action}</code>
            <Link href={`/chat/${contextId}`}>Conversation</Link>
            <span className="flex-1 text-ink-3">
              by {by}, {ago(Date.parse(at))}
            </span>
            <Button
              size="small"
              aria-label={`Withdraw ${action}`}
              onClick={() => {
                withdrawGrant(id).catch((error: unknown) => toast(String(error)));
              }}
            >
              Withdraw
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
