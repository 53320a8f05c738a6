import { useId, useState } from "react";
import { Button } from "@/parts/Button";
import { answerOf, formOf, parseJson, type Field, type Option } from "./asking";
import { BUTTONS, INPUT, LABEL, PROBLEM, TextForm } from "./TextForm";

interface AnswerFormProps {
  /** The JSON schema of the answer. */
  schema: unknown;
  isBusy: boolean;
  onAnswer: (answer: unknown) => Promise<unknown>;
}

/** The form for an answer, as its schema wants it. */
export function AnswerForm({ schema, isBusy, onAnswer }: AnswerFormProps) {
  const form = formOf(schema);
  switch (form.kind) {
    case "options":
      return (
        <>
          <Options options={form.options} isBusy={isBusy} onAnswer={onAnswer} />
          {form.hasText && (
            <TextForm label="Or in your own words" action="Answer" isBusy={isBusy} onSend={onAnswer} />
          )}
        </>
      );
    case "text":
      return (
        <TextForm
          label="Answer"
          action="Answer"
          isBusy={isBusy}
          problemOf={(text) => (text.trim() ? null : "")}
          onSend={onAnswer}
        />
      );
    case "fields":
      return <Fields fields={form.fields} isBusy={isBusy} onAnswer={onAnswer} />;
    case "json":
      return (
        <TextForm
          label="Answer, as JSON"
          action="Answer"
          first="null"
          isCode
          isBusy={isBusy}
          problemOf={(text) => {
            const parsed = parseJson(text);
            return parsed.ok ? null : parsed.problem;
          }}
          onSend={(text) => onAnswer(JSON.parse(text) as unknown)}
        />
      );
  }
}

function Options({
  options,
  isBusy,
  onAnswer,
}: { options: readonly Option[] } & Omit<AnswerFormProps, "schema">) {
  return (
    <div className={BUTTONS} role="group" aria-label="Answers">
      {options.map(({ value, label }) => (
        <Button key={label} disabled={isBusy} onClick={() => void onAnswer(value)}>
          {label}
        </Button>
      ))}
    </div>
  );
}

function Fields({
  fields,
  isBusy,
  onAnswer,
}: { fields: readonly Field[] } & Omit<AnswerFormProps, "schema">) {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const [problem, setProblem] = useState("");
  return (
    <form
      className="mt-2"
      onSubmit={(event) => {
        event.preventDefault();
        const answer = answerOf(fields, texts);
        setProblem(answer.ok ? "" : answer.problem);
        if (answer.ok && !isBusy) void onAnswer(answer.value);
      }}
    >
      {fields.map((field) => (
        <FieldView
          key={field.name}
          field={field}
          text={texts[field.name] ?? ""}
          onText={(text) => setTexts({ ...texts, [field.name]: text })}
        />
      ))}
      <p className={PROBLEM} role="alert">
        {problem}
      </p>
      <div className={BUTTONS}>
        <Button type="submit" variant="primary" disabled={isBusy}>
          Answer
        </Button>
      </div>
    </form>
  );
}

function FieldView({ field, text, onText }: { field: Field; text: string; onText: (text: string) => void }) {
  const id = useId();
  const { kind, label, hint, isRequired, options } = field;
  const common = { id, "aria-describedby": `${id}-hint`, required: isRequired } as const;
  return (
    <div className="mb-2">
      <label htmlFor={id} className={LABEL}>
        {label}
        {!isRequired && kind !== "boolean" && <span> (optional)</span>}
      </label>
      {kind === "boolean" ? (
        <input
          {...common}
          required={false}
          type="checkbox"
          className="ml-2 align-middle"
          checked={text === "true"}
          onChange={(event) => onText(String(event.target.checked))}
        />
      ) : kind === "options" ? (
        <select
          {...common}
          className={`${INPUT} pointer-coarse:min-h-11`}
          value={text}
          onChange={(event) => onText(event.target.value)}
        >
          <option value="" />
          {options.map((option, at) => (
            <option key={option.label} value={at}>
              {option.label}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...common}
          type="text"
          className={`${INPUT} pointer-coarse:min-h-11`}
          inputMode={kind === "number" ? "decimal" : "text"}
          value={text}
          onChange={(event) => onText(event.target.value)}
        />
      )}
      <span id={`${id}-hint`} className="text-ink-3 text-sm mt-1.5">
        {hint}
      </span>
    </div>
  );
}
