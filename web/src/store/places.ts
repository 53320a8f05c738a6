/** Places of the page in view, to which ⌘K leads: the nodes of a run, or of a tree. */
import { useEffect, useRef } from "react";

export interface Place {
  readonly label: string;
  /** Where it is: `oracle.yaml:22`. */
  readonly detail: string;
  readonly go: () => void;
}

type Listing = () => readonly Place[];

const listings: { current: Listing }[] = [];

/** Offer places as long as the component is shown. They are listed when they are asked for, not before. */
export function usePlaces(list: Listing): void {
  const latest = useRef(list);
  useEffect(() => {
    latest.current = list;
  });
  useEffect(() => {
    listings.push(latest);
    return () => {
      listings.splice(listings.indexOf(latest), 1);
    };
  }, []);
}

/** The places of what is shown now. */
export function placesNow(): readonly Place[] {
  return listings.flatMap((listing) => listing.current());
}
