/** What is left of the day, where spending is limited. */
import { useQuery } from "@tanstack/react-query";
import { api, unwrap } from "@/api/client";
import { useHasFeature } from "@/api/queries";
import type { components } from "@/api/schema";
import { number } from "@/parts/format";
import { Meter } from "@/parts/Meter";
import { leftWords } from "./left";

export type Standing = components["schemas"]["SpendingReport"];

/** `user`: another user, of whom operators read; empty: the caller. */
export function Spending({ user }: { user: string }) {
  const isLimited = useHasFeature("spending");
  const { data } = useQuery({
    queryKey: ["spending", user],
    queryFn: ({ signal }) =>
      unwrap(
        user
          ? api.GET("/api/spending", { params: { query: { user } }, signal })
          : api.GET("/api/me/spending", { signal }),
      ) as Promise<Standing>,
    enabled: isLimited,
  });
  if (!data?.limits.length) return null;
  return (
    <div className="mb-3 flex flex-wrap items-center gap-x-5 gap-y-1">
      {data.limits.map(({ unit, used, soft, hard }) => (
        <Meter
          key={unit}
          label="Today"
          value={used}
          limit={hard}
          warnPercent={hard > 0 ? (100 * soft) / hard : 0}
          text={`${number(used)} of ${number(hard)} ${unit === "tokens" ? "tokens" : (data.currency ?? "")}`}
        />
      ))}
      <span className="text-ink-3 text-sm">{leftWords(data)}</span>
    </div>
  );
}
