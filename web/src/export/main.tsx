/** The page of an exported run: the view of a run over the history that lies in the file. */
import "@/styles/base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { applyTheme } from "@/store/preferences";
import { embeddedRun } from "./embedded";
import { ExportedRun } from "./ExportedRun";

applyTheme();
const root = document.getElementById("root");
const data = document.getElementById("run");
if (root && data)
  createRoot(root).render(
    <StrictMode>
      <ExportedRun {...embeddedRun(data.textContent)} />
    </StrictMode>,
  );
