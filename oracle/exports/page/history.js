"use strict";
// Shows one recorded run. All text of the run reaches the page through `textContent` or a canvas, never as markup.

const { history: run, tick: firstTick, why: reasons } = JSON.parse(document.getElementById("run").textContent);
const nodes = run.tree ? run.tree.nodes : [];
const ticks = run.ticks;
const OMITTED = "…"; // a text that was left out

// Elements

function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

function place(made, { left, top, width, height }) {
  if (left !== undefined) made.style.left = `${left}px`;
  if (top !== undefined) made.style.top = `${top}px`;
  if (width !== undefined) made.style.width = `${width}px`;
  if (height !== undefined) made.style.height = `${height}px`;
  return made;
}

// Statuses, by node and tick

const UNASKED = 0,
  YES = 1,
  NO = 2,
  RUNNING = 3,
  CARRIED = 4,
  HALTED = 5,
  FAULT = 6,
  GUARD = 7;
const CODES = { SUCCESS: YES, FAILURE: NO, RUNNING, INVALID: UNASKED };
const CLASSES = ["", "yes", "no", "run", "run", "run", "err", "yes"];
const WORDS = ["not asked", "success", "failure", "running", "running", "halted", "error", "success"];
const COLOURS = [
  "--line-3",
  "--ok-fill",
  "--fail-fill",
  "--run-fill",
  "--run-fill",
  "--run-fill",
  "--err-fill",
  "--ok-fill",
];
const marks = new Uint8Array(nodes.length * ticks.length);
const markAt = (node, at) => (node === null ? UNASKED : marks[node * ticks.length + at]);

function readMarks() {
  const latest = new Uint8Array(nodes.length);
  const byPath = new Map(nodes.map((node) => [node.path, node.index]));
  ticks.forEach((tick, at) => {
    const halted = [];
    for (const [node, status] of tick.changes) {
      if (latest[node] === RUNNING && status === "INVALID") halted.push(node);
      latest[node] = CODES[status];
    }
    for (let node = 0; node < nodes.length; node++)
      if (latest[node] === RUNNING) marks[node * ticks.length + at] = CARRIED;
    for (const node of halted) marks[node * ticks.length + at] = HALTED;
    for (const node of tick.visited) {
      const holds = latest[node] === YES && nodes[node].slot === "guards";
      marks[node * ticks.length + at] = holds ? GUARD : latest[node];
    }
    for (const [path] of tick.errors) if (byPath.has(path)) marks[byPath.get(path) * ticks.length + at] = FAULT;
  });
}
readMarks();

// The blackboard at each tick

const values = new Map(); // key → [[position of the tick, value], ...]; position -1: before the first
run.keys.forEach((key) => values.set(key.name, [[-1, key.value]]));
ticks.forEach((tick, at) =>
  tick.writes.forEach(([key, value]) => {
    if (!values.has(key)) values.set(key, [[-1, null]]);
    const known = values.get(key),
      last = known[known.length - 1];
    if (last[0] === at) last[1] = value;
    else known.push([at, value]);
  }),
);

function valueAt(key, at) {
  const known = values.get(key) || [];
  let low = 0,
    high = known.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (known[middle][0] <= at) low = middle;
    else high = middle - 1;
  }
  return known.length ? known[low][1] : undefined;
}

function shown(value, longest = 60) {
  const text =
    typeof value === "number"
      ? value.toLocaleString("en", { maximumFractionDigits: 3 })
      : value === undefined
        ? "unknown"
        : value === OMITTED
          ? OMITTED
          : JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
const isTrue = (value) =>
  !(value === false || value === null || value === 0 || value === "" || (Array.isArray(value) && !value.length));
const seconds = (s) =>
  s === null || s === undefined
    ? ""
    : Math.abs(s) < 0.1
      ? `${Math.round(s * 1000)} ms`
      : `${s.toFixed(s < 100 ? 2 : 0)} s`;
const compact = (n) => (n >= 10000 ? `${(n / 1000).toFixed(1)}k` : n.toLocaleString("en"));
const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
