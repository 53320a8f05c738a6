// OpenAI's SDK against responses: `node openai_responses.mjs URL KEY WHAT [JSON]`; says one JSON value a line.
import OpenAI from "openai";

const [url, key, what, given = "{}"] = process.argv.slice(2);
const { body, id, after, ...options } = JSON.parse(given);
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, ...options });
const say = (value) => console.log(JSON.stringify(value));
const asked = { model: "oracle", ...body };

const does = {
  async stream() {
    for await (const event of await client.responses.create({ ...asked, stream: true })) say({ event });
  },
  // The helper that puts the events together, with what it insists on.
  async helper() {
    const runner = client.responses.stream(asked);
    const pieces = [];
    runner.on("response.output_text.delta", (event) => pieces.push(event.delta));
    const response = await runner.finalResponse();
    say({ response, text: response.output_text, pieces });
  },
  async whole() {
    const response = await client.responses.create(asked);
    say({ response, text: response.output_text });
  },
  async retrieve() {
    say({ response: await client.responses.retrieve(id) });
  },
  async resume() {
    const stream = await client.responses.retrieve(id, { stream: true, starting_after: after });
    for await (const event of stream) say({ event });
  },
  // Asked in the background, stopped, and deleted.
  async life() {
    const begun = await client.responses.create({ ...asked, background: true });
    const stopped = await client.responses.cancel(begun.id);
    const items = [];
    for await (const item of client.responses.inputItems.list(begun.id)) items.push(item);
    await client.responses.delete(begun.id);
    say({ begun, stopped, items });
    await client.responses.retrieve(begun.id);
  },
};

try {
  await does[what]();
} catch (error) {
  say({ error: error.constructor.name, status: error.status ?? null, code: error.code ?? null, param: error.param ?? null });
}
