import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { Button } from "@/parts/Button";
import { ago } from "@/parts/format";
import { Skeleton } from "@/parts/Skeleton";
import { toast } from "@/parts/Toast";

import { restoreVersion, versionsQuery, versionTextQuery } from "./calls";
import { Difference } from "./Difference";
import type { Conflict, Tree, Version } from "./types";

interface VersionsProps {
  name: string;
  present: Tree;
  isDirty: boolean;
  onRestored: (tree: Tree) => void;
  onConflict: (conflict: Conflict) => void;
}

const HOW: Record<Version["how"], string> = {
  saved: "saved",
  restored: "taken back",
  file: "changed as a file",
  shipped: "part of a release",
};

const VERSION = "grid gap-0.5 w-full p-2 border-0 rounded-md bg-transparent text-ink-3 text-left";
const STATES = "hover:bg-surface-2 aria-pressed:bg-sel";

/** All versions of a tree: who, when, why, and what each has changed. */
export function Versions({ name, present, isDirty, onRestored, onConflict }: VersionsProps) {
  const { data } = useQuery(versionsQuery(name));
  const [selected, select] = useState<number>(0);
  const versions = data?.versions ?? [];
  const newest = versions.findIndex((version) => version.is_present); // an older one may have the same text
  const shown = versions[selected];
  if (!data) return <Skeleton label="Loading the versions" />;
  return (
    <div className="grid flex-1 grid-cols-[240px_minmax(0,1fr)] min-h-0">
      <ol className="p-2 overflow-auto border-r border-line list-none" aria-label="Versions">
        {versions.map((version, at) => (
          <li key={`${version.version} ${version.at}`}>
            <button
              type="button"
              className={`${VERSION} ${STATES}`}
              aria-pressed={at === selected}
              onClick={() => select(at)}
            >
              <span className="flex gap-2 text-ink">
                <code>{version.version.slice(0, 7)}</code> {at === newest && <b>current</b>}
                <time className="ml-auto text-ink-3" dateTime={version.at}>
                  {ago(Date.parse(version.at))}
                </time>
              </span>
              <span>
                {HOW[version.how]}
                {version.user_id ? ` by ${version.user_id}` : ""}
              </span>
              {version.note && <span className="text-ink-2 wrap-anywhere">{version.note}</span>}
            </button>
          </li>
        ))}
      </ol>
      {shown && (
        <Shown
          key={`${shown.version} ${shown.at}`}
          name={name}
          version={shown}
          before={versions[selected + 1] ?? null}
          present={present}
          isDirty={isDirty}
          onRestored={onRestored}
          onConflict={onConflict}
        />
      )}
    </div>
  );
}

interface ShownProps extends VersionsProps {
  version: Version;
  before: Version | null;
}

/** A version, compared with the one before it. */
function Shown({ name, version, before, present, isDirty, onRestored, onConflict }: ShownProps) {
  const text = useQuery(versionTextQuery(name, version.version));
  const older = useQuery({ ...versionTextQuery(name, before?.version ?? ""), enabled: before !== null });
  const [isBusy, setBusy] = useState(false);
  const takeBack = async () => {
    setBusy(true);
    try {
      const done = await restoreVersion(name, version.version, present.version, null);
      if (done.kind === "saved") onRestored(done.tree);
      else if (done.kind === "conflict") onConflict(done.conflict);
      else toast("This version has mistakes with the current trees. Nothing was changed.");
    } catch (error) {
      toast(error instanceof Error ? error.message : "The service did not restore it.");
    } finally {
      setBusy(false);
    }
  };
  const isReady = text.data !== undefined && (before === null || older.data !== undefined);
  return (
    <div className="flex flex-col min-w-0 min-h-0">
      <header className="flex flex-none items-center justify-between min-h-10 px-3 border-b border-line">
        <h2 className="text-sm">{before ? "What this version changed" : "The first version"}</h2>
        {!version.is_present && (
          <Button
            size="small"
            disabled={isBusy || isDirty}
            title={isDirty ? "Save or discard your text first." : undefined}
            onClick={() => void takeBack()}
          >
            Restore this version
          </Button>
        )}
      </header>
      {isReady ? (
        <Difference
          before={older.data?.source ?? ""}
          after={text.data.source}
          label="What this version changed"
        />
      ) : (
        <Skeleton label="Loading the version" />
      )}
    </div>
  );
}
