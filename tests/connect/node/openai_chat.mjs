// OpenAI's SDK against chat completions: `node openai_chat.mjs URL KEY WHAT [JSON]`; says one JSON value a line.
import OpenAI from "openai";

const [url, key, what, given = "{}"] = process.argv.slice(2);
const { body, ...options } = JSON.parse(given);
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, ...options });
const say = (value) => console.log(JSON.stringify(value));
const asked = { model: "oracle", ...body };

const named = (error) => ({
  error: error.constructor.name,
  status: error.status ?? null,
  code: error.code ?? null,
  param: error.param ?? null,
  type: error.type ?? null,
  message: error.message,
});

const does = {
  async stream() {
    const stream = await client.chat.completions.create({ ...asked, stream: true, stream_options: { include_usage: true } });
    for await (const chunk of stream) say({ chunk });
  },
  // The helper that puts the chunks together, with what it insists on.
  async helper() {
    const runner = client.chat.completions.stream({ ...asked, stream_options: { include_usage: true } });
    const pieces = [];
    runner.on("content", (piece) => pieces.push(piece));
    say({ completion: await runner.finalChatCompletion(), content: await runner.finalContent(), pieces });
  },
  async whole() {
    say({ completion: await client.chat.completions.create(asked) });
  },
  async models() {
    const models = [];
    for await (const model of client.models.list()) models.push(model);
    say({ models, one: await client.models.retrieve(models[0].id) });
  },
  async model() {
    say({ one: await client.models.retrieve(asked.model) });
  },
};

try {
  await does[what]();
} catch (error) {
  say(named(error));
}
