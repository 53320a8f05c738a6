import { expect, it } from "vitest";
import { moment, withOwnTimes } from "@/parts/format";
import { leftWords } from "./left";

const AT = "2026-12-01T00:00:00Z";
const words = (...states: string[]) =>
  leftWords({ resets_at: AT, limits: states.map((state) => ({ state })) });

it("says the worst of the limits, and when the next day begins", () => {
  expect(words("ok")).toBe(`The next day begins ${moment(AT)}.`);
  expect(words("near", "ok")).toContain("The limit is near");
  expect(words("near", "over")).toBe(
    `The limit is reached: questions are possible again from ${moment(AT)}.`,
  );
});

it("shows the times of the service as the user's own", () => {
  expect(moment(AT)).toMatch(/^(1 Dec|30 Nov) 2026, \d\d:\d\d$/);
  expect(withOwnTimes(`again from ${AT}.`)).toBe(`again from ${moment(AT)}.`);
  expect(withOwnTimes("at 12:00")).toBe("at 12:00");
});
