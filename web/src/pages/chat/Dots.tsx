const DOT = "size-1.25 rounded-full bg-run-fill animate-[dots_1.2s_infinite]";

/** Three dots: an answer is coming. */
export function Dots({ label }: { label: string | null }) {
  return (
    <span
      className="inline-flex flex-none gap-0.75"
      {...(label === null ? { "aria-hidden": true } : { role: "img", "aria-label": label })}
    >
      <i className={DOT} />
      <i className={`${DOT} opacity-65 [animation-delay:0.2s]`} />
      <i className={`${DOT} opacity-35 [animation-delay:0.4s]`} />
    </span>
  );
}
