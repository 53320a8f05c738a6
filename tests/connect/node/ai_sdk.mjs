// A chat of the AI SDK that does what it is told: `node ai_sdk.mjs URL TOKEN '[["send", "Hello"], …]' '{"chat": …}'`.
// After each step it prints `{did, status, error, messages, requests, parts}` as a line of JSON. Without a URL, `play`
// reads frames that the test gives.
import { readFileSync } from "node:fs";
import {
  AbstractChat,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from "ai";

const [url, token, steps, options] = process.argv.slice(2);
const { chat: id = "chat", body, tools = {}, messages = [], drop = null, replay = true, sends = 20 } = JSON.parse(options ?? "{}");

class State {
  status = "ready";
  error = undefined;
  messages = messages;
  pushMessage = (message) => void (this.messages = this.messages.concat(message));
  popMessage = () => void (this.messages = this.messages.slice(0, -1));
  replaceMessage = (at, message) => void (this.messages = this.messages.with(at, structuredClone(message)));
  snapshot = structuredClone;
}
class Chat extends AbstractChat {
  constructor(init) {
    super({ ...init, state: new State() });
  }
}

let dropAfter = drop;
let played = null;
let requests = [];
let parts = 0;
let ids = [];
let data = [];
let onPart = () => {};

/** Passes parts on, up to the one after which the connection is lost. */
async function line(address, init) {
  requests.push(`${init.method} ${String(address).replace(url, "")}`);
  if (requests.length > sends) throw new Error("too many requests");
  const own = new AbortController();
  const signal = init.signal ? AbortSignal.any([init.signal, own.signal]) : own.signal;
  const response = played === null ? await fetch(address, { ...init, signal }) : new Response(played);
  if (!response.ok || response.body === null) return response;
  if (response.headers.get("x-vercel-ai-ui-message-stream") !== "v1" && played === null) throw new Error("no header");
  const most = dropAfter;
  let rest = "", seen = 0;
  const body = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(
    new TransformStream({
      async transform(text, out) {
        const frames = (rest + text).split("\n\n");
        rest = frames.pop();
        for (const frame of frames) {
          if (most !== null && seen >= most) return;
          const at = /^id: ?(.*)$/m.exec(frame);
          if (at) ids.push(at[1]);
          out.enqueue(frame + "\n\n");
          if (!frame.includes("data:")) continue;
          seen += 1;
          parts += 1;
          onPart(frame);
          if (most !== null && seen >= most) {
            await new Promise((resolve) => setTimeout(resolve, 20)); // an error overtakes what was not read yet
            own.abort();
            out.error(new TypeError("network error"));
            return;
          }
        }
      },
    }),
  );
  return new Response(body.pipeThrough(new TextEncoderStream()), { status: 200, headers: response.headers });
}

const begin = (id) =>
  new Chat({
    id,
    transport: new DefaultChatTransport({
      api: `${url}/api/chat`,
      headers: { Authorization: `Bearer ${token}` },
      body,
      fetch: line,
      resumeStreamIsReplay: replay,
      ...(replay ? {} : { prepareReconnectToStreamRequest: ({ id }) => ({ api: `${url}/api/chat/${id}/stream?after=${ids.at(-1) ?? 0}` }) }),
    }),
    sendAutomaticallyWhen: (options) =>
      lastAssistantMessageIsCompleteWithToolCalls(options) || lastAssistantMessageIsCompleteWithApprovalResponses(options),
    onData: (part) => data.push(part),
    onToolCall: ({ toolCall }) => {
      if (toolCall.toolName in tools) chat.addToolOutput({ toolCallId: toolCall.toolCallId, ...tools[toolCall.toolName] });
    },
  });
let chat = begin(id);

const idle = async () => {
  do await new Promise((resolve) => setTimeout(resolve, 20));
  while (chat.status === "submitted" || chat.status === "streaming");
};
const last = () => chat.lastMessage?.parts ?? [];
const waitingCall = (name) => last().findLast((part) => part.state === "input-available" && !part.providerExecuted && (!name || part.toolName === name || part.type === `tool-${name}`));
const approvals = () => last().filter((part) => part.state === "approval-requested");
const change = (edit) => void (chat.messages = chat.messages.map((message, at) => (at === chat.messages.length - 1 ? { ...message, parts: message.parts.map(edit) } : message)));

const DO = {
  chat: (id) => void ((chat = begin(id)), (ids = [])),
  send: (text) => chat.sendMessage({ text }),
  edit: (at, text) => chat.sendMessage({ text, messageId: chat.messages[at].id }),
  file: (text) => chat.sendMessage({ text, files: [{ type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" }] }),
  again: () => chat.regenerate(),
  retry: () => chat.sendMessage(),
  resume: () => chat.resumeStream(),
  whole: () => void (dropAfter = null),
  drop: (n) => void (dropAfter = n),
  play: (path) => (played = readFileSync(path), chat.resumeStream()),
  continue: (path) => (played = readFileSync(path), chat.sendMessage()),
  decide: (at, approved, reason) => chat.addToolApprovalResponse({ id: approvals()[at].approval.id, approved, reason }),
  output: (output, name) => chat.addToolOutput({ toolCallId: waitingCall(name).toolCallId, output }),
  tamper: (input) => change((part) => (part.state === "approval-requested" ? { ...part, input } : part)),
  // Sends a question; when the message has these words, does something else meanwhile. That a part with them has come is
  // not enough: an abort overtakes parts that the client has not read yet.
  meanwhile: async (text, words, did, ...given) => {
    const reached = new Promise((resolve) => (onPart = (frame) => frame.includes(words) && resolve()));
    const sent = chat.sendMessage({ text });
    await reached;
    while (!last().some((part) => part.text?.includes(words))) await new Promise((resolve) => setTimeout(resolve));
    print({ did: "reached" });
    await DO[did](...given);
    await sent;
  },
  leave: () => chat.stop(),
  nothing: () => {},
  wait: () => new Promise((resolve) => process.stdin.once("data", resolve)),
  stop: async () => {
    const response = await fetch(`${url}/api/chat/${chat.id}/stop`, { method: "POST", headers: { Authorization: `Bearer ${token}` } });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  },
};

function print(more) {
  const error = chat.error && { name: chat.error.name, message: chat.error.message, status: chat.error.statusCode };
  console.log(JSON.stringify({ status: chat.status, error, messages: chat.messages, requests, parts, data, ...more }));
  requests = [];
  parts = 0;
  data = [];
}

for (const [did, ...given] of JSON.parse(steps)) {
  let failed;
  try {
    await DO[did](...given);
    await idle();
  } catch (error) {
    failed = String(error);
  }
  print({ did, failed });
}
process.exit(0);
