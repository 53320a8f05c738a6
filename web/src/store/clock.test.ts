import { expect, test } from "vitest";
import { ago } from "@/parts/format";
import { hearDate, serviceTime } from "./clock";

const HOUR_MS = 3_600_000;
const httpDate = (at: number) => new Date(at).toUTCString();

test("times of the service are compared with its own clock, whatever the browser's says", () => {
  const theirs = Date.now() - HOUR_MS;
  hearDate(httpDate(theirs));
  expect(Math.abs(serviceTime() - theirs)).toBeLessThan(2_000);
  expect(ago(theirs - 5.5 * 60_000)).toBe("5 min ago");
  hearDate(httpDate(Date.now()));
});

test("clocks that agree to a second are the same, and a response without a date changes nothing", () => {
  hearDate(httpDate(Date.now() - 900));
  expect(serviceTime(5_000)).toBe(5_000);
  hearDate(null);
  hearDate("soon");
  expect(serviceTime(5_000)).toBe(5_000);
});
