// A thread of AG-UI's `HttpAgent` that does what it is told: `node ag_ui.mjs URL TOKEN THREAD '[["say", "Hello"], …]'`.
// After each step it prints `{did, error, types, text, messages, interrupts, calls, last, run, warnings}` as a line of
// JSON. What the client itself enforces (`enforceEvents`, `verifyEvents`) ends a step with an error; what it strips is
// a warning. Without a URL, `play` has the client's pipeline read frames that the test gives on standard input.
import { readFileSync } from "node:fs";
import { asyncScheduler, lastValueFrom, scheduled, toArray } from "rxjs";
import { EventSchema } from "@ag-ui/core/schemas";
import {
  HttpAgent,
  buildResumeArray,
  enforceEvents,
  runHttpRequest,
  transformChunks,
  transformHttpEventStream,
  verifyEvents,
} from "@ag-ui/client";

const [url, token, threadId, steps] = process.argv.slice(2);
let warnings = [];
let run = null;
console.warn = (text) => void warnings.push(String(text));
console.error = () => {};
process.on("unhandledRejection", () => {}); // the client's reader of a lost connection leaves one

const headers = { Authorization: `Bearer ${token}` };
const named = async (address, init) => {
  const response = await fetch(address, init);
  run = response.headers.get("x-run-id");
  return response;
};

class ThreadAgent extends HttpAgent {
  connect() {
    return transformHttpEventStream(runHttpRequest(() => named(`${url}/agui/threads/${this.threadId}`, { headers })));
  }
}

const made = () => new ThreadAgent({ url: `${url}/agui`, threadId, headers, fetch: named });
let agent = made();
let events = [];
let calls = [];
let asked = 0;
const watch = {
  onEvent: ({ event }) => {
    EventSchema.parse(event);
    events.push(event);
  },
  onRunFinishedEvent: (finished) => void (calls = finished.pendingToolCallIds ?? []),
};

const step = {
  say: (text, more = {}) => {
    agent.addMessage({ id: `u-${(asked += 1)}`, role: "user", content: text });
    return agent.runAgent(more, watch);
  },
  again: (more = {}) => agent.runAgent(more, watch),
  // What was decided about each open interrupt, in their order.
  resume: (...responses) => {
    const open = agent.pendingInterrupts;
    const given = Object.fromEntries(open.map(({ id }, at) => [id, responses[at]]));
    return agent.runAgent({ resume: buildResumeArray(open, given) }, watch);
  },
  resumeAs: (resume) => agent.runAgent({ resume }, watch),
  results: (outputs, more = {}) => {
    for (const toolCallId of calls) {
      const name = agent.messages.flatMap((m) => m.toolCalls ?? []).find((c) => c.id === toolCallId).function.name;
      agent.addMessage({ id: `t-${toolCallId}`, role: "tool", toolCallId, content: outputs[name] });
    }
    return agent.runAgent(more, watch);
  },
  reload: () => {
    agent = made();
    return agent.connectAgent({}, watch);
  },
  stop: () => fetch(`${url}/agui/threads/${threadId}/cancel`, { method: "POST", headers }),
};

const texts = (role) => agent.messages.filter((m) => m.role === role && m.content).map((m) => m.content);

if (url === "play") {
  for (const frames of JSON.parse(readFileSync(0, "utf8"))) {
    const sent = { type: "data", data: new TextEncoder().encode(frames) };
    const begun = { type: "headers", status: 200, headers: new Headers({ "content-type": "text/event-stream" }) };
    const http = scheduled([begun, sent], asyncScheduler); // the client subscribes after it has begun to read
    const read = transformHttpEventStream(http).pipe(enforceEvents(), transformChunks(), verifyEvents(), toArray());
    const found = await lastValueFrom(read).catch((error) => ({ error: String(error) }));
    console.log(JSON.stringify({ events: found, warnings }));
  }
  process.exit(0);
}

for (const [did, ...given] of JSON.parse(steps)) {
  events = [];
  warnings = [];
  let error = null;
  try {
    await step[did](...given);
  } catch (failed) {
    error = { message: failed.message, status: failed.status ?? null, payload: failed.payload ?? null };
  }
  const types = events.map((event) => event.type);
  const last = events.at(-1) ?? null;
  const interrupts = agent.pendingInterrupts;
  const said = { asked: texts("user"), answers: texts("assistant"), results: texts("tool") };
  console.log(JSON.stringify({ did, error, types, last, interrupts, calls, run, warnings, messages: agent.messages, ...said }));
}
process.exit(0);
