import "./Dots.css";

/** Three dots: an answer is coming. */
export function Dots({ label }: { label: string | null }) {
  return (
    <span
      className="dots"
      {...(label === null ? { "aria-hidden": true } : { role: "img", "aria-label": label })}
    >
      <i />
      <i />
      <i />
    </span>
  );
}
