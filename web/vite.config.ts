import react from "@vitejs/plugin-react";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { precompress } from "./scripts/precompress.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  plugins: [react(), precompress()],
  resolve: { alias: { "@": here("./src") } },
  build: {
    outDir: here("../oracle/console/files"),
    emptyOutDir: true,
    manifest: true, // which files a page loads, for the test of their size
    target: "es2022",
    assetsInlineLimit: 0, // the policy of the page allows no data: in scripts and styles
    modulePreload: { polyfill: false },
    rolldownOptions: { checks: { bundlerTimings: false } }, // on a busy machine it would complain of every build
  },
  server: {
    // The service compares `Host` with `Origin`: both are those of the dev server.
    proxy: { "/api": { target: process.env.ORACLE_URL ?? "http://127.0.0.1:8000", changeOrigin: false } },
  },
  // A test that needs a document says so in its first line: `// @vitest-environment jsdom`, half a second each.
  test: { environment: "node", include: ["src/**/*.test.{ts,tsx}"] },
});
