// A chat with Oracle by the AI SDK's own hook: answers, thinking, tools, sources, notices, approvals and questions.
import { useChat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from "ai";
import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

// `?api=http://127.0.0.1:8000` names the service, `#TOKEN` its token; `&chat=` the chat that is read again.
const given = new URLSearchParams(location.search);
const api = `${given.get("api") ?? "http://127.0.0.1:8000"}/api/chat`;
const headers = location.hash ? { Authorization: `Bearer ${location.hash.slice(1)}` } : {};
const id = given.get("chat") ?? crypto.randomUUID();
given.set("chat", id);
history.replaceState(null, "", `?${given}${location.hash}`);

function Chat() {
  const { messages, sendMessage, status, stop, error, regenerate, resumeStream, addToolApprovalResponse, addToolOutput } = useChat({
    id,
    transport: new DefaultChatTransport({ api, headers, body: { tree: given.get("tree") ?? undefined } }),
    resume: true, // what an answer has so far, after the page was loaded anew
    sendAutomaticallyWhen: (options) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(options) || lastAssistantMessageIsCompleteWithToolCalls(options),
  });
  useEffect(() => {
    addEventListener("online", resumeStream);
    return () => removeEventListener("online", resumeStream);
  }, [resumeStream]);
  const cancel = () => fetch(`${api}/${id}/stop`, { method: "POST", headers }); // `stop` of the hook leaves the run to itself

  return (
    <>
      {messages.map((message) => (
        <article key={message.id} className={message.role}>
          {message.parts.map((part, at) => (
            <Part key={at} part={part} decide={addToolApprovalResponse} answer={addToolOutput} />
          ))}
        </article>
      ))}
      {error && (
        <p role="alert">
          {error.message} <button onClick={() => resumeStream()}>Read again</button>
        </p>
      )}
      <Ask isBusy={status === "submitted" || status === "streaming"} send={(text) => sendMessage({ text })} cancel={cancel} />
      {messages.at(-1)?.role === "assistant" && status === "ready" && <button onClick={() => regenerate()}>Ask again</button>}
    </>
  );
}

function Part({ part, decide, answer }) {
  if (part.type === "text") return <span>{part.text}</span>;
  if (part.type === "reasoning") return <p className="thought">{part.text}</p>;
  if (part.type === "source-url") return <a href={part.url}>{part.title ?? part.url}</a>;
  if (part.type === "source-document") return <p className="note">Source: {part.title}</p>;
  if (part.type === "data-system") return <p className="note">{part.data.system_message}</p>;
  if (!isToolUIPart(part)) return null;
  if (part.state === "approval-requested")
    return (
      <p className="approval">
        {part.approval.requestReason} <code>{JSON.stringify(part.input)}</code>{" "}
        <span className="buttons">
          <button onClick={() => decide({ id: part.approval.id, approved: true })}>Approve</button>{" "}
          <button onClick={() => decide({ id: part.approval.id, approved: false })}>Refuse</button>
        </span>
      </p>
    );
  if (part.toolName === "ask_user" && part.state === "input-available")
    return <Ask label={part.input.question} send={(output) => answer({ tool: "ask_user", toolCallId: part.toolCallId, output })} />;
  return (
    <details>
      <summary>
        {part.toolName}: {part.state}
      </summary>
      {JSON.stringify(part.input)}
      {"\n"}
      {part.errorText ?? (typeof part.output === "string" ? part.output : JSON.stringify(part.output))}
    </details>
  );
}

function Ask({ label = "Question", isBusy, send, cancel }) {
  const [text, setText] = useState("");
  const submit = (event) => {
    event.preventDefault();
    if (text.trim()) send(text);
    setText("");
  };
  return (
    <form onSubmit={submit}>
      <input aria-label={label} placeholder={label} value={text} onChange={(event) => setText(event.target.value)} />
      {isBusy ? <button type="button" onClick={cancel}>Stop</button> : <button>Send</button>}
    </form>
  );
}

createRoot(document.getElementById("root")).render(<Chat />);
