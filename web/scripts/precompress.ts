import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Plugin } from "vite";

const COMPRESSED = /\.(?:css|js|svg)$/;
const TOO_SMALL = 1024; // bytes: a header more would cost what the copy saves
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }; // the best, 11, takes seconds for some percent

/** Puts copies in gzip and Brotli beside each text file of the build, so that the service compresses nothing. */
export function precompress(): Plugin {
  return {
    name: "precompress",
    apply: "build",
    async writeBundle({ dir }) {
      if (!dir) return;
      const names = await readdir(dir, { recursive: true });
      await Promise.all(
        names.filter((name) => COMPRESSED.test(name)).map((name) => compress(join(dir, name))),
      );
    },
  };
}

async function compress(path: string): Promise<void> {
  const body = await readFile(path);
  if (body.length < TOO_SMALL) return;
  await Promise.all([
    promisify(gzip)(body, { level: constants.Z_BEST_COMPRESSION }).then((copy) =>
      writeFile(`${path}.gz`, copy),
    ),
    promisify(brotliCompress)(body, BROTLI).then((copy) => writeFile(`${path}.br`, copy)),
  ]);
}
