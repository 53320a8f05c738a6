/** ⌘K: go to a node of what is shown, a run, a tree, or a page, by some letters of its name. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useId, useState, type KeyboardEvent } from "react";
import { useLocation } from "wouter";
import { api, unwrap } from "@/api/client";
import { useHasFeature, useMe, useTrees } from "@/api/queries";
import { useModal } from "@/parts/useModal";
import { placesNow } from "@/store/places";
import { useSections } from "./sections";

const MOST_RUNS = 8;
const MOST_PLACES = 12;

interface Target {
  key: string;
  label: string;
  detail: string;
  go: () => void;
}

export default function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [modal, close] = useModal(onClose);
  const id = useId();
  const found = useTargets(useDeferredValue(text.trim()));
  const chosen = Math.min(at, found.length - 1);
  const open = (target: Target | undefined) => {
    if (!target) return;
    close();
    target.go();
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt((chosen + 1) % Math.max(1, found.length));
    else if (event.key === "ArrowUp") setAt((chosen - 1 + found.length) % Math.max(1, found.length));
    else if (event.key === "Enter") open(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      {...modal}
      className="w-[min(560px,calc(100vw-24px))] max-h-[60vh] mt-[12vh] p-0 border border-line-2 rounded-lg bg-overlay text-ink shadow-overlay backdrop:bg-[rgb(10_10_15/30%)]"
      aria-label="Go to"
    >
      <input
        className="sticky top-0 w-full h-11 py-0 px-4 border-0 border-b border-line bg-overlay text-lg outline-none"
        placeholder="Go to run, tree, node…"
        role="combobox"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found.length ? `${id}-${chosen}` : undefined}
        aria-label="Go to run, tree, node or page"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <div
        className="p-1 [&>div]:flex [&>div]:justify-between [&>div]:gap-4 [&>div]:py-1.5 [&>div]:px-3 [&>div]:rounded-md [&>div]:cursor-pointer [&>div]:aria-selected:bg-surface-3"
        id={id}
        role="listbox"
        aria-label="Found"
      >
        {found.map((target, index) => (
          // eslint-disable-next-line jsx-a11y/click-events-have-key-events -- the input has the keys, as the pattern of a combobox has it
          <div
            key={target.key}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => open(target)}
          >
            <span className="truncate">{target.label}</span>
            <span className="flex-none text-ink-3 text-sm">{target.detail}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="py-3 px-4 text-ink-3">Nothing found.</p>}
    </dialog>
  );
}

/** Nodes in view, pages, trees and runs that have the text in their names; runs are searched by the service. */
function useTargets(text: string): Target[] {
  const [, navigate] = useLocation();
  const [places] = useState(placesNow);
  const { data: trees } = useTrees();
  const isOperator = useMe().data?.is_operator ?? false;
  const hasShadows = useHasFeature("shadow") && isOperator;
  const sections = useSections();
  const isId = /^[0-9a-f]{6,32}$/i.test(text);
  const { data: runs } = useQuery({
    queryKey: ["palette", text],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET("/api/runs", {
          params: { query: { limit: MOST_RUNS, ...(text && !isId ? { search: text } : {}) } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
  const matches = (name: string) => name.toLowerCase().includes(text.toLowerCase());
  const link = (href: string, label: string, detail: string): Target => ({
    key: href,
    label,
    detail,
    go: () => navigate(href),
  });
  const nodes = places
    .map((place, index): Target => ({ key: `place ${String(index)}`, ...place }))
    .filter(({ label, detail }) => matches(label) || (/[.:]/.test(text) && matches(detail)));
  const links = [
    ...(isId ? [link(`/runs/${text}`, text, "run")] : []),
    ...sections.filter(({ label }) => matches(label)).map(({ href, label }) => link(href, label, "page")),
    ...(hasShadows && matches("Shadow runs") ? [link("/shadow", "Shadow runs", "page")] : []),
    ...(trees?.trees ?? [])
      .filter(({ name }) => matches(name))
      .map(({ name }) => link(`/trees/${name}`, name, "tree")),
    ...(runs?.runs ?? []).map(({ run_id, question }) =>
      link(`/runs/${run_id}`, question || run_id, run_id.slice(0, 8)),
    ),
  ];
  return text === "" ? links : [...nodes.slice(0, MOST_PLACES), ...links];
}
