// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { FrameQueue } from "./frames";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("what comes within a frame is applied at once, in order", () => {
  const applied: number[][] = [];
  const queue = new FrameQueue<number>((items) => applied.push([...items]));
  for (let n = 1; n <= 100; n += 1) queue.push(n);
  expect(applied).toEqual([]);
  vi.advanceTimersByTime(20);
  expect(applied).toEqual([Array.from({ length: 100 }, (_, at) => at + 1)]);
  queue.push(101);
  vi.advanceTimersByTime(20);
  expect(applied.at(-1)).toEqual([101]);
});

test("a page without frames is served by a timer", () => {
  vi.stubGlobal("requestAnimationFrame", () => 1);
  const applied: string[][] = [];
  const queue = new FrameQueue<string>((items) => applied.push([...items]));
  queue.push("a");
  vi.advanceTimersByTime(500);
  vi.unstubAllGlobals();
  expect(applied).toEqual([["a"]]);
});

test("a flush applies now, and nothing twice", () => {
  const applied: string[][] = [];
  const queue = new FrameQueue<string>((items) => applied.push([...items]));
  queue.push("a");
  queue.flush();
  vi.advanceTimersByTime(1000);
  expect(applied).toEqual([["a"]]);
});
