import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { precompress } from "./scripts/precompress.ts";
import { singleFile } from "./scripts/singleFile.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Of the page of an exported run. Trusted types: DOMPurify alone makes markup out of text. */
const EXPORT_POLICY = [
  "default-src 'none'",
  "script-src SCRIPT",
  "style-src STYLE",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types dompurify",
];

const QUIET = { checks: { bundlerTimings: false } }; // on a busy machine it would complain of every build

const console_ = {
  emptyOutDir: true,
  manifest: true, // which files a page loads, for the test of their size
  assetsInlineLimit: 0, // the policy of the page allows no data: in scripts and styles
  rolldownOptions: QUIET,
};
const export_ = {
  emptyOutDir: false, // it lies with the console's files
  copyPublicDir: false,
  cssCodeSplit: false, // else the script would add its styles, which the policy forbids
  rolldownOptions: { ...QUIET, input: here("./export.html"), output: { format: "iife" as const } },
};

/** `vite build` builds the console; with `--mode export`, the page of an exported run. */
export default defineConfig(({ mode }) => ({
  plugins: [react(), tailwind(), mode === "export" ? singleFile(EXPORT_POLICY) : precompress()],
  resolve: { alias: { "@": here("./src") } },
  build: {
    outDir: here("../oracle/console/files"),
    target: "es2022",
    modulePreload: { polyfill: false },
    ...(mode === "export" ? export_ : console_),
  },
  server: {
    // The service compares `Host` with `Origin`: both are those of the dev server.
    proxy: { "/api": { target: process.env.ORACLE_URL ?? "http://127.0.0.1:8000", changeOrigin: false } },
  },
  // A test that needs a document says so in its first line: `// @vitest-environment jsdom`, half a second each.
  // A context of its own for each file, as in a process of its own, at a third of the CPU.
  test: { environment: "node", include: ["src/**/*.test.{ts,tsx}"], pool: "vmThreads" },
}));
