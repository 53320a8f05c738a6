import { Button } from "@/parts/Button";
import { Problem } from "@/parts/Problem";
import type { RunModel } from "@/run/model";

/** Says that a run waits for a person, and leads to what is asked. */
export function WaitingStrip({ model, onShow }: { model: RunModel; onShow: () => void }) {
  const { waiting } = model;
  const [first] = waiting;
  if (first === undefined) return null;
  const more = waiting.length > 1 ? ` And ${waiting.length - 1} more.` : "";
  return (
    <div className="flex-none px-2 py-1">
      <Problem
        tone="plain"
        title="This run is waiting for a person."
        action={
          <Button size="small" onClick={onShow}>
            Show
          </Button>
        }
      >
        {first.interrupt.message}
        {more}
      </Problem>
    </div>
  );
}
