/** Figures in words. Numbers carry their unit; below 0.1 s times are in milliseconds. */
import { serviceTime } from "@/store/clock";

const NUMBER = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });

export const number = (value: number): string => NUMBER.format(value);

/** 950, 9,500, 26.4k */
export const compact = (value: number): string =>
  value >= 10_000 ? `${(value / 1000).toFixed(value % 1000 ? 1 : 0)}k` : number(value);

export const plural = (count: number, word: string, words = `${word}s`): string =>
  `${number(count)} ${count === 1 ? word : words}`;

/** 47 ms, 1.84 s, 16.8 s, 3 min 5 s */
export function duration(seconds: number): string {
  if (Math.abs(seconds) < 0.0995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 9.995) return `${seconds.toFixed(2)} s`;
  if (seconds < 119.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return whole < 3600
    ? `${Math.floor(whole / 60)} min ${whole % 60} s`
    : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** 47 ms, 0.12 s, 1.8 s, 16.8 s: as exact as a list needs. */
export const roughly = (seconds: number): string =>
  seconds < 0.995 || seconds >= 119.95 ? duration(seconds) : `${seconds.toFixed(1)} s`;

/** How long ago: now, 5 min ago, 2 h ago, 5 d ago */
export function ago(when: number, now: number = serviceTime()): string {
  const minutes = Math.floor((now - when) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / 1440)} d ago`;
}

export const clock = (when: number): string => new Date(when).toLocaleTimeString("en-GB");

/** Reasons a query ends for, as people read them: `error_limit` is "error limit". */
const MOMENT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
export const moment = (iso: string): string => MOMENT.format(new Date(iso));

/** The times in the service's words as the user's own. */
export const withOwnTimes = (text: string): string =>
  text.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, moment);

export const reasonText = (reason: string): string => reason.replaceAll("_", " ");
