import { Dialog } from "@/parts/Dialog";
import { KeyMapTable } from "@/parts/KeyMapTable";

export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose} width={680}>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it is longer than the dialog: focused, the arrow keys scroll it */}
      <div className="keys-dialog" role="group" aria-label="All keys" tabIndex={0}>
        <KeyMapTable />
      </div>
    </Dialog>
  );
}
