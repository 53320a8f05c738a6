// The protocol's own SDK (of 2025-11-25) against a server: `node mcp_client.mjs JSON`; says one JSON value.
// JSON: {url, key} or {command, args, env}.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const { url, key, command, args, env } = JSON.parse(process.argv[2]);
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${key}` } } })
  : new StdioClientTransport({ command, args, env, stderr: "pipe" });
const client = new Client({ name: "test", version: "1" });
await client.connect(transport);
const { tools } = await client.listTools();
const told = [];
const asked = await client.callTool({ name: "ask", arguments: { question: "Where is retry?" } }, undefined, {
  onprogress: (progress) => told.push(progress.message),
});
const again = await client.callTool({ name: "ask", arguments: { run_id: asked.structuredContent.run_id } });
const wrong = await client.callTool({ name: "ask", arguments: {} });
const { resources } = await client.listResources();
const { resourceTemplates } = await client.listResourceTemplates();
const read = await client.readResource({ uri: `oracle://runs/${asked.structuredContent.run_id}` });
const missing = await client.readResource({ uri: "oracle://runs/none" }).then(
  () => null,
  (error) => ({ code: error.code, data: error.data }),
);
const unknown = await client.callTool({ name: "vault_write", arguments: {} }).then(
  (result) => result.isError,
  (error) => error.code,
);
await client.ping();
console.log(
  JSON.stringify({
    tools: tools.map((tool) => tool.name),
    told,
    asked: asked.structuredContent,
    again: again.structuredContent,
    wrong: { isError: wrong.isError, text: wrong.content[0].text },
    resources: resources.map((each) => each.uri),
    templates: resourceTemplates.map((each) => each.uriTemplate),
    read: JSON.parse(read.contents[0].text),
    missing,
    unknown,
  }),
);
await client.close();
