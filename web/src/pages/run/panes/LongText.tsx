/** A text as it is, which scrolls if it is long; reached by keyboard for that. */
export function LongText({ children }: { children: string }) {
  // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by keyboard
  return <pre tabIndex={0}>{children}</pre>;
}
