/** The state of the service that several pages show, by TanStack Query. */
import { QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import { onForget } from "@/store/session";
import { api, ApiError, unwrap } from "./client";

const RETRIES = 3;

/** Refusals are final; a service that does not answer, or is busy, is asked again. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) =>
        count < RETRIES && error instanceof ApiError && [0, 502, 503, 504].includes(error.status),
      retryDelay: (count, error) =>
        1000 * (error instanceof ApiError && error.retryAfterS !== null ? error.retryAfterS : 2 ** count),
      networkMode: "always", // the service may be on this machine, without any network
    },
    mutations: { networkMode: "always" },
  },
});

onForget(() => {
  queryClient.clear();
});

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/me", { signal })),
  staleTime: Infinity,
});
export const settingsQuery = queryOptions({
  queryKey: ["settings"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/settings/agent-config", { signal })),
});
export const treesQuery = queryOptions({
  queryKey: ["trees"],
  queryFn: ({ signal }) => unwrap(api.GET("/api/trees", { signal })),
});

export const useMe = () => useQuery(meQuery);
/** Whether the service has a feature; not, as long as nothing is known of it. */
export const useHasFeature = (name: string) => useMe().data?.features.includes(name) ?? false;
export const useSettings = () => useQuery(settingsQuery);
export const useTrees = () => useQuery(treesQuery);
