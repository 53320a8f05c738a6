/** What stands for the older messages of the conversation, folded: a model's text, shown as it is. */
export function Summary({ text }: { text: unknown }) {
  if (typeof text !== "string") return null;
  return (
    <details className="px-3 py-1.5 text-sm text-ink-2">
      <summary className="cursor-pointer">The summary that the model reads instead</summary>
      <p className="mt-1 whitespace-pre-wrap wrap-anywhere">{text}</p>
    </details>
  );
}
