// Writes src/api/schema.ts and client/schema.ts, or the file that is named, from the service's own description:
// `npm run types`.
// `CONSOLE_PYTHON` names the interpreter that has the service; otherwise it is that of the repository's environment.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import openapiTS, { astToString } from "openapi-typescript";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

function describe() {
  const python = process.env.CONSOLE_PYTHON ?? here("../../.venv/bin/python");
  try {
    return JSON.parse(execFileSync(python, [here("openapi.py")], { maxBuffer: 2 ** 26 }));
  } catch (error) {
    console.error(
      `The service could not be described with ${python}; \`make install\` makes it: ${error.message}`,
    );
    process.exit(1);
  }
}

const types = astToString(await openapiTS(describe(), { alphabetize: true, emptyObjectsUnknown: true }));
const text = `// Generated from the OpenAPI document of the service by \`npm run types\`; not to be edited.\n\n${types}`;
const own = [here("../src/api/schema.ts"), here("../client/schema.ts")];
for (const target of process.argv[2] ? [process.argv[2]] : own) {
  // A file that stays the same keeps its time: the console is built anew for newer sources.
  if (!existsSync(target) || readFileSync(target, "utf8") !== text) writeFileSync(target, text);
}
