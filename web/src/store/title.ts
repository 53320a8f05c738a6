/** The title of the document: what the tab of the browser, its history and a screen reader call the page. */
import { useEffect } from "react";

const LONGEST = 80;

/** Call the page this as long as the component is shown. Of nested components the outer one has the word. */
export function useTitle(name: string): void {
  useEffect(() => {
    const short = name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
    document.title = `${short} · Oracle`;
  }, [name]);
}
