/** What of a view stands in the address, so that a link opens the same view. */
import type { Axis } from "@/source";

export const TABS = ["why", "answer", "board", "messages"] as const;
export type TabName = (typeof TABS)[number];

export interface Address {
  /** The number of the tick; `null`: the one that decided the end, or the last one of a run under way. */
  readonly tick: number | null;
  /** The selected node. */
  readonly node: number | null;
  readonly axis: Axis;
  readonly tab: TabName;
  /** Fold what the tick did not ask. */
  readonly follow: boolean;
  readonly graph: boolean;
}

export type ChangeAddress = (changes: Partial<Address>) => void;

export const FIRST_VIEW: Address = {
  tick: null,
  node: null,
  axis: "equal",
  tab: "why",
  follow: true,
  graph: false,
};

/** The view of the query of an address; what is wrong in it counts as left out. */
export function readAddress(query: string): Address {
  const given = new URLSearchParams(query);
  const tab = TABS.find((name) => name === given.get("tab"));
  return {
    tick: whole(given.get("tick"), 1),
    node: whole(given.get("node"), 0),
    axis: given.get("axis") === "time" ? "time" : "equal",
    tab: tab ?? FIRST_VIEW.tab,
    follow: given.get("lines") !== "all",
    graph: given.get("view") === "graph",
  };
}

/** The query of a view: `?tick=13&axis=time`; empty for the first view. */
export function writeAddress(view: Address): string {
  const query = new URLSearchParams();
  if (view.tick !== null) query.set("tick", String(view.tick));
  if (view.node !== null) query.set("node", String(view.node));
  if (view.axis === "time") query.set("axis", "time");
  if (view.tab !== FIRST_VIEW.tab) query.set("tab", view.tab);
  if (!view.follow) query.set("lines", "all");
  if (view.graph) query.set("view", "graph");
  const text = query.toString();
  return text && `?${text}`;
}

function whole(text: string | null, least: number): number | null {
  if (text === null || !/^\d{1,9}$/.test(text)) return null;
  const number = Number(text);
  return number >= least ? number : null;
}
