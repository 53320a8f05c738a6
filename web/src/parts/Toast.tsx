import { create } from "zustand";

interface Toasts {
  text: string | null;
  timer: ReturnType<typeof setTimeout> | undefined;
}

const SHOWN_MS = 4000;
const useToasts = create<Toasts>()(() => ({ text: null, timer: undefined }));

/** Say something that needs no answer, for a few seconds. */
export function toast(text: string): void {
  clearTimeout(useToasts.getState().timer);
  const timer = setTimeout(() => {
    useToasts.setState({ text: null });
  }, SHOWN_MS);
  useToasts.setState({ text, timer });
}

export function Toasts() {
  const text = useToasts((state) => state.text);
  return (
    <div className="fixed z-40 bottom-10 inset-x-0 flex justify-center pointer-events-none" role="status">
      {text !== null && (
        <div className="py-2 px-3.5 rounded-md bg-ink text-on-ink shadow-overlay">{text}</div>
      )}
    </div>
  );
}
