// Writes src/api/schema.ts, or the file that is named, from the OpenAPI document on standard input: `make types`.
import { writeFileSync } from "node:fs";
import { json } from "node:stream/consumers";
import openapiTS, { astToString } from "openapi-typescript";

const document = await json(process.stdin);
const types = astToString(await openapiTS(document, { alphabetize: true, emptyObjectsUnknown: true }));
const target = process.argv[2] ?? new URL("../src/api/schema.ts", import.meta.url);
writeFileSync(
  target,
  `// Generated from the OpenAPI document of the service by \`make types\`; not to be edited.\n\n${types}`,
);
