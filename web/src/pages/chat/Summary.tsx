/** What stands for the older messages of the conversation, folded: a model's text, shown as it is. */
export function Summary({ text }: { text: unknown }) {
  if (typeof text !== "string") return null;
  return (
    <details className="px-3 py-1.5 text-sm text-ink-2">
      <summary className="cursor-pointer">What the model reads in their place</summary>
      <p className="mt-1 whitespace-pre-wrap wrap-anywhere">{text}</p>
    </details>
  );
}
