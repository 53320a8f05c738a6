// Asks through @microsoft/fetch-event-source, which sends the POST again, with `last-event-id`, when the connection drops.
// Standard output: a line of JSON for each opened stream and each chunk.
// The library is written for browsers.
globalThis.window = globalThis;
globalThis.document = { hidden: false, addEventListener() {}, removeEventListener() {} };
const { fetchEventSource } = await import("@microsoft/fetch-event-source");

const [, , url, key] = process.argv;
const say = (line) => console.log(JSON.stringify(line));
let isDone = false;

await fetchEventSource(`${url}/api/oracle/stream`, {
  method: "POST",
  headers: { "Content-Type": "application/json", "Idempotency-Key": key },
  body: JSON.stringify({ question: "hello" }),
  openWhenHidden: true,
  async onopen(response) {
    say({ opened: response.status, run: response.headers.get("x-run-id") });
  },
  onmessage(event) {
    const chunk = JSON.parse(event.data);
    isDone ||= chunk.type === "done";
    say({ id: Number(event.id), chunk });
  },
  onclose() {
    if (!isDone) throw new Error("the stream ended before `done`");
  },
  onerror() {
    return 50; // milliseconds until it asks again
  },
});
