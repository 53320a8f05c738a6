/** The looks of a summary: the chevron of the console in place of the browser's triangle. */
export const FOLD =
  "relative list-none cursor-pointer [&::-webkit-details-marker]:hidden before:absolute before:size-1.25 before:border-current before:border-t-[1.5px] before:border-r-[1.5px] before:rotate-45 [[open]>&]:before:rotate-135";

/** A text as it is, which scrolls if it is long; reached by keyboard for that. */
export function LongText({ children, className }: { children: string; className: string }) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by keyboard
    <pre tabIndex={0} className={`overflow-auto wrap-anywhere whitespace-pre-wrap ${className}`}>
      {children}
    </pre>
  );
}
