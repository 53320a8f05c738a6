// Uses `web/client` from its source: `node web_client.mjs CLIENT URL TOKEN TREE`.
const [path, url, token] = process.argv.slice(2);
const { Oracle, OracleError } = await import(path);
const oracle = new Oracle(url, token);
const say = (value) => console.log(JSON.stringify(value));

const refused = await oracle.ask({ question: "" }).catch((error) => error);
say([refused instanceof OracleError, refused.status, refused.message]);

const { run_id, context_id } = await oracle.ask({ question: "Where is RetryPolicy?", tools: [{ name: "where_is" }] }, "one key");
say((await oracle.ask({ question: "Where is RetryPolicy?", tools: [{ name: "where_is" }] }, "one key")).run_id === run_id);
const seen = [];
for await (const { n, chunk } of oracle.resume(run_id)) {
  seen.push(n);
  say(chunk);
  if (chunk.type === "question") {
    await new Promise((resolve) => process.stdin.once("data", resolve)); // the test has cut the line, and mends it later
    await oracle.answer(run_id, { id: chunk.interrupt.id, decision: "answer", answer: { output: "Lima" } });
  }
}
say(seen.every((n, at) => n === at + 1));
const rest = [];
for await (const { n } of oracle.resume(run_id, seen.length - 2)) rest.push(n);
say(rest.length === 2);

const chat = oracle.conversation(context_id);
const held = await chat.ask("Go on.");
say(held.context_id === chat.contextId && (await oracle.pending()).every(({ run_id: other }) => other !== held.run_id));
for await (const { chunk } of oracle.resume(held.run_id)) {
  if (chunk.type === "content" && chunk.content.includes("here")) await oracle.cancel(held.run_id);
  if (chunk.type === "done") say(chunk.termination_reason);
}

// A service that is busy says when to come back; `fetch` is the one of this file for these calls.
const asked = [];
globalThis.fetch = async () => {
  asked.push(Date.now());
  const busy = { status: 503, headers: { "Retry-After": "1" } };
  return asked.length < 2 ? new Response("{}", busy) : Response.json({ run_id: "r", context_id: "c" }, { status: 202 });
};
say((await oracle.ask({ question: "Hi" })).run_id === "r" && asked[1] - asked[0] > 900);
process.exit(0);
