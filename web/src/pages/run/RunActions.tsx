/** What can be done with a run of the service: compare it, save it as a file, replay it on an edit. */
import { useState } from "react";
import { Button, LinkButton } from "@/parts/Button";
import { MoreIcon } from "@/parts/icons";
import { Menu, type MenuItem } from "@/parts/Menu";
import type { RunFacts } from "@/run/facts";
import { downloadExport, EXPORTS } from "@/source/exports";
import { useMedia } from "@/store/media";
import { CompareDialog } from "./CompareDialog";

interface RunActionsProps {
  run: RunFacts;
  /** The number of the tick that is shown; `null` without one. */
  tick: number | null;
}

export function RunActions({ run, tick }: RunActionsProps) {
  const [isComparing, setComparing] = useState(false);
  const isWide = useMedia("(width >= 1500px)");
  const isNarrow = useMedia("(width < 700px)");
  const exports = EXPORTS.map(({ format, label, detail }): MenuItem => ({
    label,
    detail,
    onSelect: () => void downloadExport(run.id, format, tick),
  }));
  const replay = run.tree
    ? `/trees/${encodeURIComponent(run.tree)}?replay=${encodeURIComponent(run.id)}`
    : null;
  const compare = { label: "Compare…", onSelect: () => setComparing(true) };
  return (
    <>
      {!isNarrow && <Button onClick={compare.onSelect}>Compare…</Button>}
      <Menu
        label="Export"
        align="end"
        items={isNarrow ? [compare, ...exports] : exports}
        button={(props) =>
          isWide ? (
            <Button {...props}>Export</Button>
          ) : (
            <Button
              {...props}
              variant={isNarrow ? "ghost" : "plain"}
              icon={<MoreIcon />}
              aria-label={isNarrow ? "Compare and export" : "Export"}
              title="Export"
            />
          )
        }
      />
      {!isNarrow && replay !== null && (
        <LinkButton variant="primary" href={replay}>
          Replay on an edit…
        </LinkButton>
      )}
      {isComparing && <CompareDialog run={run} onClose={() => setComparing(false)} />}
    </>
  );
}
