/** Exports of a run: files that the service writes, saved by the browser. */
import { api, ApiError, unwrap } from "@/api/client";
import type { operations } from "@/api/schema";
import { save } from "@/parts/save";
import { toast } from "@/parts/Toast";

export type ExportFormat = NonNullable<
  NonNullable<operations["export_run"]["parameters"]["query"]>["format"]
>;

export const EXPORTS: readonly { format: ExportFormat; label: string; detail: string }[] = [
  { format: "html", label: "Page (HTML)", detail: "Shows the run in any browser, offline." },
  { format: "json", label: "Data (JSON)", detail: "All of it; `oracle runs import` reads it." },
  { format: "svg", label: "Picture of the tree (SVG)", detail: "With the statuses at this tick." },
  { format: "mermaid", label: "Mermaid", detail: "The tree as text, with the statuses at this tick." },
  { format: "dot", label: "Graphviz (DOT)", detail: "The tree as text, with the statuses at this tick." },
];

const ENDINGS: Readonly<Record<ExportFormat, string>> = {
  html: "html",
  json: "json",
  svg: "svg",
  mermaid: "mmd",
  dot: "dot",
};

/** Have the service write a run as a file, and save it. */
export async function downloadExport(
  runId: string,
  format: ExportFormat,
  tick: number | null,
): Promise<void> {
  const query = tick === null ? { format } : { format, tick };
  try {
    const call = api.GET("/api/runs/{run_id}/export", {
      params: { path: { run_id: runId }, query },
      parseAs: "blob",
    });
    save(await unwrap<Blob>(call), `run-${runId.slice(0, 8)}.${ENDINGS[format]}`);
  } catch (error) {
    toast(error instanceof ApiError ? error.message : "The file could not be saved.");
  }
}
