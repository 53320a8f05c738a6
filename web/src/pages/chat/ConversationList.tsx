import { useInfiniteQuery } from "@tanstack/react-query";
import { useDeferredValue, useRef, useState } from "react";
import { Button, LinkButton } from "@/parts/Button";
import { PlusIcon, SearchIcon } from "@/parts/icons";
import { Problem } from "@/parts/Problem";
import { Skeleton } from "@/parts/Skeleton";
import { useKeys } from "@/store/keys";
import { ConversationRow } from "./ConversationRow";
import { byDay } from "./days";
import { conversationsQuery } from "./queries";

interface ConversationListProps {
  contextId: string | null;
  /** Another conversation, or a new question, was chosen. */
  onChoose?: () => void;
}

/** The user's conversations by the day of their last use, with a search over titles and questions. */
export function ConversationList({ contextId, onChoose }: ConversationListProps) {
  const [search, setSearch] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const words = useDeferredValue(search.trim());
  const { data, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    conversationsQuery(words),
  );
  useKeys({ "/": () => field.current?.focus() });
  const conversations = data?.pages.flatMap((page) => page.conversations) ?? [];
  return (
    <nav className="flex flex-col min-h-0 h-full pt-3 px-2" aria-label="Conversations">
      {/* eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- the link in it is what is pressed */}
      <div className="[&>a]:w-full [&>a]:justify-start [&_.kbd]:ml-auto" onClick={onChoose}>
        <LinkButton href="/" icon={<PlusIcon size={14} />} keys="n">
          New question
        </LinkButton>
      </div>
      <label className="flex items-center gap-1.5 mt-2 px-2 rounded-md text-ink-3 focus-within:bg-surface-2 focus-within:outline-2 focus-within:outline-focus">
        <SearchIcon size={14} />
        <span className="visually-hidden">Search conversations</span>
        <input
          ref={field}
          className="flex-1 min-w-0 h-7 p-0 border-0 outline-none bg-transparent text-ink placeholder:text-ink-3"
          type="search"
          value={search}
          placeholder="Search"
          maxLength={200}
          onChange={(event) => setSearch(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            setSearch("");
            field.current?.blur();
            event.stopPropagation();
          }}
        />
      </label>
      <div className="flex-1 min-h-0 -mx-2 px-2 pb-3 overflow-y-auto">
        {isPending && <Skeleton label="Loading conversations" />}
        {error && !data && <Problem tone="plain" title="The conversations could not be read." />}
        {data && conversations.length === 0 && (
          <p className="py-4 px-2 text-ink-3">
            {words ? "No conversation matches." : "No conversations yet."}
          </p>
        )}
        {byDay(conversations, new Date()).map((group) => (
          <section key={group.name} aria-label={group.name}>
            <h2 className="pt-3.5 px-2 pb-1 text-ink-3 text-xs">{group.name}</h2>
            <ul className="list-none">
              {group.items.map((conversation) => (
                <ConversationRow
                  key={conversation.context_id}
                  conversation={conversation}
                  isOpen={conversation.context_id === contextId}
                  onChoose={onChoose}
                />
              ))}
            </ul>
          </section>
        ))}
        {hasNextPage && (
          <Button
            variant="ghost"
            size="small"
            disabled={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            Older conversations
          </Button>
        )}
      </div>
    </nav>
  );
}
