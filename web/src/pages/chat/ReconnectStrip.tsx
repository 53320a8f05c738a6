import { Button } from "@/parts/Button";
import { Mark } from "@/parts/Mark";
import type { Connection } from "@/stream/follow";
import { useNow } from "@/store/useNow";

interface ReconnectStripProps {
  connection: Connection;
  /** The question has been accepted. */
  hasRun: boolean;
  onTryNow: () => void;
}

/** The stream of an answer is lost, and when it is opened again. */
export function ReconnectStrip({ connection, hasRun, onTryNow }: ReconnectStripProps) {
  const isWaiting = connection.at === "waiting";
  const now = useNow(250, isWaiting);
  if (!isWaiting) return null;
  const seconds = Math.max(1, Math.ceil((connection.until - now) / 1000));
  const from = connection.after > 0 ? `, from chunk ${connection.after}` : "";
  return (
    <div
      className="connection-strip flex flex-none items-center gap-2 min-h-9 py-1 px-4 border-b border-line bg-surface-2"
      role="alert"
    >
      <Mark kind="warning" size={14} label={null} />
      <span>
        <strong>Connection lost.</strong>{" "}
        {hasRun ? "The answer continues in the meantime." : "The question is sent again, but runs only once."}{" "}
        <span aria-hidden="true">
          Trying again in {seconds} s{from}.
        </span>
      </span>
      <Button size="small" onClick={onTryNow}>
        Try now
      </Button>
    </div>
  );
}
