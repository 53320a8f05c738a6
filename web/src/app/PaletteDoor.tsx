/** The palette, or the wait for its code: until it is open, keys go nowhere else. */
import { useEffect, useState } from "react";
import { toast } from "@/parts/Toast";
import { useHeldKeys } from "@/store/keys";
import { loadPalette, loadPaletteWhenIdle, paletteCode } from "./paletteCode";

export function PaletteDoor({ onClose }: { onClose: () => void }) {
  const [Palette, setPalette] = useState(paletteCode);
  useHeldKeys(Palette === null, onClose);
  const isMissing = Palette === null;
  useEffect(() => {
    if (!isMissing) return;
    let isWanted = true;
    loadPalette().then(
      (code) => {
        if (isWanted) setPalette(() => code);
      },
      () => {
        if (!isWanted) return;
        toast("This could not be loaded: the service is not responding.");
        onClose();
      },
    );
    return () => {
      isWanted = false;
    };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- to be loaded once; `onClose` is another one with each drawing
  }, [isMissing]);
  return Palette && <Palette onClose={onClose} />;
}

/** Stands beside the first page, and has the palette loaded when that is shown. */
export function PaletteAhead() {
  useEffect(loadPaletteWhenIdle, []);
  return null;
}
