import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useSession } from "@/store/session";
import { patientFetch } from "./client";

const refused = () => new Response("{}", { status: 429, headers: { "Retry-After": "7" } });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("reads again when the service says so", async () => {
  const fetched = vi.fn().mockResolvedValueOnce(refused()).mockResolvedValueOnce(new Response("{}"));
  vi.stubGlobal("fetch", fetched);
  const answer = patientFetch("/api/runs");
  await vi.advanceTimersByTimeAsync(6_999);
  expect(fetched).toHaveBeenCalledTimes(1);
  expect(useSession.getState().waitsUntil).toBeGreaterThan(Date.now());
  await vi.advanceTimersByTimeAsync(1);
  expect((await answer).status).toBe(200);
});

it("sends nothing twice by itself", async () => {
  vi.stubGlobal("fetch", vi.fn().mockResolvedValue(refused()));
  expect((await patientFetch("/api/oracle/runs", { method: "POST" })).status).toBe(429);
});
