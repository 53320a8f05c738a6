import { useId, useState } from "react";
import { useSettings } from "@/api/queries";
import type { AgentSettings } from "@/api/types";
import { Button, LinkButton } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";
import { number } from "@/parts/format";
import { Skeleton } from "@/parts/Skeleton";
import { LIMIT_FIELDS, LIMIT_NAMES, type LimitField, type OwnLimits } from "./limits";

interface LimitsDialogProps {
  limits: OwnLimits;
  onChange: (limits: OwnLimits) => void;
  onClose: () => void;
  /** In place of “Apply”. */
  action?: string;
}

/** Limits for the next questions of this page, within what the service allows. */
export function LimitsDialog({ limits, onChange, onClose, action = "Apply" }: LimitsDialogProps) {
  const { data: settings } = useSettings();
  const [texts, setTexts] = useState<Partial<Record<LimitField, string>>>({});
  if (!settings) {
    return (
      <Dialog title="Limits for your next questions" onClose={onClose}>
        <Skeleton />
      </Dialog>
    );
  }
  const textOf = (field: LimitField) => texts[field] ?? String(limits[field] ?? settings.effective[field]);
  const problems = LIMIT_FIELDS.map((field) => problemOf(settings, field, textOf(field)));
  const isRight = problems.every((problem) => problem === null);
  const use = () => {
    if (!isRight) return;
    const chosen = LIMIT_FIELDS.flatMap((field) => {
      const value = Number(textOf(field));
      return value === settings.effective[field] ? [] : [[field, value] as const];
    });
    onChange(Object.fromEntries(chosen));
    onClose();
  };
  return (
    <Dialog
      title="Limits for your next questions"
      onClose={onClose}
      width={420}
      actions={
        <>
          <LinkButton href="/settings" variant="ghost">
            Your defaults in Settings
          </LinkButton>
          <Button variant="primary" disabled={!isRight} onClick={use}>
            {action}
          </Button>
        </>
      }
    >
      {LIMIT_FIELDS.map((field, at) => (
        <LimitInput
          key={field}
          field={field}
          text={textOf(field)}
          problem={problems[at] ?? null}
          greatest={greatest(settings, field)}
          onText={(text) => setTexts({ ...texts, [field]: text })}
          onEnter={use}
        />
      ))}
    </Dialog>
  );
}

interface LimitInputProps {
  field: LimitField;
  text: string;
  problem: string | null;
  greatest: number;
  onText: (text: string) => void;
  onEnter: () => void;
}

function LimitInput({ field, text, problem, greatest: most, onText, onEnter }: LimitInputProps) {
  const id = useId();
  const { name, unit } = LIMIT_NAMES[field];
  return (
    <div className="grid grid-cols-[90px_110px_1fr] items-center gap-x-2.5 gap-y-1 py-1">
      <label htmlFor={id}>{name}</label>
      <input
        id={id}
        className="h-7 py-0 px-2 border border-line-2 rounded-md bg-surface aria-invalid:border-err-fill"
        inputMode="numeric"
        value={text}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-note`}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault(); // it would send the question, in whose form the dialog stands
          onEnter();
        }}
      />
      <span id={`${id}-note`} className={problem === null ? "mt-2 text-ink-3" : "text-err text-sm"}>
        {problem ?? `up to ${number(most)} ${unit}`}
      </span>
    </div>
  );
}

/** The greatest value that counts: beyond a ceiling a limit is lowered. */
export function greatest(settings: AgentSettings, field: LimitField): number {
  const bounds = settings.fields[field];
  if (!bounds) return settings.effective[field];
  return Math.min(bounds.maximum, bounds.ceiling ?? Infinity, bounds.tree ?? Infinity);
}

function problemOf(settings: AgentSettings, field: LimitField, text: string): string | null {
  const least = settings.fields[field]?.minimum ?? 1;
  const most = greatest(settings, field);
  const value = Number(text);
  const isRight = /^\d+$/.test(text.trim()) && value >= least && value <= most;
  return isRight ? null : `A whole number from ${number(least)} to ${number(most)}.`;
}
