/** Asking a question, and what follows from it for what the page knows of the service. */
import { queryClient } from "@/api/queries";
import { useSession } from "@/store/session";
import type { AnswerStream, AskedQuestion, LiveAnswer } from "@/stream/answerStream";
import { liveAnswers } from "@/stream/useAnswer";
import { answerQuery, conversationQuery, refreshConversation, runQuery } from "./queries";

/** Other tabs of this browser, which show the same conversations. */
const otherTabs = new BroadcastChannel("oracle.conversations");
otherTabs.addEventListener("message", ({ data }) => {
  if (typeof data === "string") void refreshConversation(data);
});

/**
 * Ask a question, and follow its answer to its end.
 *
 * @param onNamed gets the conversation when the question is accepted.
 * @returns whether the question was accepted.
 */
export async function ask(question: AskedQuestion, onNamed: (contextId: string) => void): Promise<boolean> {
  const stream = liveAnswers.ask(question);
  showConnection(stream);
  const { runId } = await until(stream, (view) => view.runId !== null || hasEnded(view));
  if (runId === null) return false;
  const contextId = question.context_id ?? (await contextOf(stream, runId));
  if (contextId === null) return true;
  liveAnswers.name(stream, contextId);
  onNamed(contextId);
  void changed(contextId);
  void finish(stream, contextId);
  return true;
}

/** The conversation that a run has begun: the run says it at once, the last chunk of the answer at the latest. */
async function contextOf(stream: AnswerStream, runId: string): Promise<string | null> {
  for (;;) {
    const view = await until(stream, (each) => each.connection.at === "open" || hasEnded(each));
    if (view.answer.done) return view.answer.done.context_id;
    try {
      return (await queryClient.query(runQuery(runId))).context_id;
    } catch {
      if (hasEnded(view)) return null;
      await until(stream, (each) => each.connection.at !== "open"); // lost, or ended: then it is known
    }
  }
}

/** Follow the answer that a conversation is giving, which was asked for elsewhere. */
export function attach(
  contextId: string,
  live: { run_id: string; question: string; created_at: string },
): void {
  const before = liveAnswers.of(contextId);
  const run = { runId: live.run_id, question: live.question, askedAt: Date.parse(live.created_at) };
  const stream = liveAnswers.attach(contextId, run);
  if (stream === before) return;
  showConnection(stream);
  void finish(stream, contextId);
}

/** When it has ended, the conversation has it: then it is shown from there. */
async function finish(stream: AnswerStream, contextId: string): Promise<void> {
  const { runId, answer } = await until(stream, hasEnded);
  if (runId === null) return;
  if (answer.done) queryClient.setQueryData(answerQuery(runId).queryKey, answer);
  void queryClient.invalidateQueries({ queryKey: runQuery(runId).queryKey });
  await changed(contextId);
  const saved = queryClient.getQueryData(conversationQuery(contextId).queryKey);
  if (!saved || saved.pages.some((page) => page.messages.some((message) => message.run_id === runId))) {
    liveAnswers.drop(stream);
  }
}

async function changed(contextId: string): Promise<void> {
  otherTabs.postMessage(contextId);
  await refreshConversation(contextId);
}

export const hasEnded = ({ connection: { at } }: LiveAnswer): boolean => at === "ended" || at === "refused";

function until(stream: AnswerStream, holds: (view: LiveAnswer) => boolean): Promise<LiveAnswer> {
  return new Promise((resolve) => {
    const look = () => {
      const view = stream.getSnapshot();
      if (!holds(view)) return;
      stop();
      resolve(view);
    };
    const stop = stream.subscribe(look);
    look();
  });
}

/** The header says when an answer has lost its connection. */
function showConnection(stream: AnswerStream): void {
  stream.subscribe(() => {
    if (stream.getSnapshot().connection.at === "waiting") useSession.getState().setConnection("reconnecting");
  });
}
