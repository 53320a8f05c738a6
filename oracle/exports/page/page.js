// The elements of the page, and the marks and icons in it.

const parts = {};
let charWidth = 7.2;

function svg(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

const ICONS = {
  first: "M3 3V13M12 3 6 8 12 13",
  before: "M10 3 5 8 10 13",
  play: "M5 3 12 8 5 13Z",
  pause: "M5 3V13M11 3V13",
  after: "M6 3 11 8 6 13",
  last: "M13 3V13M4 3 10 8 4 13",
};

function svgIcon(path) {
  const made = svg("svg", { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true" });
  made.append(
    svg("path", {
      d: path,
      fill: path === ICONS.play ? "currentColor" : "none",
      stroke: "currentColor",
      "stroke-width": 1.6,
    }),
  );
  return made;
}

function svgMark(code, size = 12) {
  const made = svg("svg", {
    width: size,
    height: size,
    viewBox: "0 0 12 12",
    class: "mark",
    role: "img",
    "aria-label": WORDS[code],
  });
  const add = (tag, attributes) => made.append(svg(tag, attributes));
  const colour = `var(${COLOURS[code]})`,
    on = "var(--on-mark)";
  if (code === YES || code === GUARD) {
    add("circle", { cx: 6, cy: 6, r: 5.5, fill: colour });
    add("path", { d: "M3.4 6.2 5.2 8 8.6 4.4", fill: "none", stroke: on, "stroke-width": 1.5 });
  } else if (code === NO)
    add("path", { d: "M2.5 2.5 9.5 9.5M9.5 2.5 2.5 9.5", stroke: colour, "stroke-width": 1.8, fill: "none" });
  else if (code === FAULT) {
    add("path", { d: "M6 0 12 6 6 12 0 6Z", fill: colour });
    add("path", { d: "M6 3V7M6 8.2V9.4", stroke: on, "stroke-width": 1.4 });
  } else if (code === UNASKED) add("circle", { cx: 6, cy: 6, r: 1.2, fill: colour });
  else {
    add("rect", { x: 0, y: 3.5, width: 12, height: 5, rx: 2.5, fill: colour });
    if (code === HALTED) add("path", { d: "M11 1V11", stroke: colour, "stroke-width": 1.6 });
  }
  return made;
}

function build() {
  const facts = run.run,
    faults = ticks.reduce((sum, tick) => sum + tick.errors.length, 0);
  const took = facts.finished_at === null ? null : facts.finished_at - facts.created_at;
  const reason = facts.termination_reason || facts.status;
  parts.theme = el("button", { class: "button", onclick: switchTheme });
  const head = el(
    "header",
    { class: "head" },
    el("code", { class: "quiet" }, facts.id.slice(0, 8)),
    el("h1", { class: "cut", title: facts.question }, facts.question || "(no question)"),
    el(
      "span",
      { class: `badge ${reason === "completed" ? "ok" : reason === "error" ? "err" : "warn"}` },
      svgMark(reason === "completed" ? YES : reason === "error" ? FAULT : NO, 11),
      reason,
    ),
    faults ? el("span", { class: "badge err" }, svgMark(FAULT, 11), plural(faults, "node error")) : null,
    el("span", { class: "grow" }),
    el(
      "span",
      { class: "facts" },
      el("span", {}, el("b", {}, String(facts.turns)), facts.turns === 1 ? " turn" : " turns"),
      el("span", {}, el("b", {}, facts.tokens_used.toLocaleString("en")), " tokens"),
      took === null ? null : el("span", {}, el("b", {}, seconds(took))),
      facts.model ? el("code", {}, facts.model) : null,
      el("code", {}, facts.tree + (facts.tree_version ? `@${facts.tree_version.slice(0, 7)}` : "")),
    ),
    parts.theme,
  );
  const said = [
    run.problem && run.problem !== OMITTED ? `Not everything is known: ${run.problem}.` : "",
    facts.kept === "figures"
      ? "The texts of this run were left out or deleted."
      : facts.kept === "gone"
        ? "Of this run only its summary is left."
        : "",
    ticks.length ? "" : "It has no ticks.",
  ].filter(Boolean);
  parts.overview = el(
    "div",
    {
      class: "overview",
      role: "slider",
      tabindex: "0",
      "aria-label": "Tick",
      "aria-valuemin": ticks.length ? ticks[0].tick : 0,
      "aria-valuemax": ticks.length ? ticks[ticks.length - 1].tick : 0,
    },
    el("canvas", {}),
  );
  parts.where = el("span", { class: "where" });
  parts.headline = el("span", { class: "headline grow cut", "aria-live": "polite" });
  const step = (label, icon, act) => el("button", { title: label, "aria-label": label, onclick: act }, svgIcon(icon));
  parts.play = step("Play (Space)", ICONS.play, play);
  parts.follow = pair(
    ["Follow tick", "All lines"],
    () => (state.follow ? 0 : 1),
    (index) => {
      state.follow = index === 0;
      state.open.clear();
      update();
      reveal();
    },
  );
  parts.axis = pair(
    ["Equal", "Time"],
    () => (state.time ? 1 : 0),
    (index) => {
      state.time = index === 1;
      update();
    },
  );
  const bar = el(
    "div",
    { class: "bar" },
    el(
      "span",
      { class: "steps" },
      step("First tick (Home)", ICONS.first, () => go(0)),
      step("Tick before (←)", ICONS.before, () => go(state.at - 1)),
      parts.play,
      step("Next tick (→)", ICONS.after, () => go(state.at + 1)),
      step("Last tick (End)", ICONS.last, () => go(ticks.length - 1)),
    ),
    parts.where,
    parts.headline,
    parts.follow.element,
    parts.axis.element,
  );
  parts.crumbs = el("div", { class: "crumbs" });
  parts.find = el("input", {
    class: "find",
    type: "search",
    placeholder: "Find a line",
    "aria-label": "Find a line",
    hidden: "",
  });
  parts.columns = el("canvas", {});
  parts.rows = el("div", {});
  parts.source = el(
    "div",
    {
      class: "source",
      role: "treegrid",
      tabindex: "0",
      "aria-label": "Source of the tree, with the statuses at the tick",
    },
    parts.rows,
  );
  parts.sticky = el("div", { class: "sticky", "aria-hidden": "true" });
  parts.matrix = el("canvas", { class: "marks", "aria-hidden": "true" });
  parts.work = el(
    "div",
    { class: "work" },
    el("div", { class: "cols" }, parts.crumbs, parts.find, parts.columns),
    parts.source,
    parts.sticky,
    parts.matrix,
  );
  parts.panes = el("div", { class: "panes" });
  const legend = [YES, NO, RUNNING, UNASKED, FAULT].map((code) =>
    el("span", {}, svgMark(code, 10), code === NO ? "failure: the answer “no”" : WORDS[code]),
  );
  const keys = [
    ["← →", "tick"],
    ["⇧←→", "turn"],
    ["D", "to decision"],
    ["T", "time axis"],
    ["?", "all keys"],
  ].map(([key, what]) => el("span", {}, el("kbd", {}, key), what));
  document.body.prepend(
    head,
    el("div", { class: said.length ? "strip cut" : "", title: said.join(" ") }, said.join(" ")),
    parts.overview,
    bar,
    el("main", { class: "main" }, parts.work, parts.panes),
    el("footer", { class: "status" }, ...legend, el("span", { class: "grow" }), el("span", { class: "keys" }, ...keys)),
  );
  buildDialog();
}

function pair(labels, chosen, choose) {
  const buttons = labels.map((label, index) => el("button", { onclick: () => choose(index) }, label));
  return {
    element: el("span", { class: "switch" }, ...buttons),
    update: () => buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(index === chosen()))),
  };
}

const KEYS = [
  ["← →", "tick before, tick after"],
  ["⇧← ⇧→", "turn before, turn after"],
  ["Home End", "first tick, last tick"],
  ["↑ ↓", "line"],
  ["↵", "fold or unfold the line"],
  ["D", "to the decision"],
  ["E", "next error"],
  ["N", "next tick in which this node was asked"],
  ["Space", "play"],
  ["T", "time axis"],
  ["A", "all lines"],
  ["1–4", "Why, Answer, Blackboard, Messages"],
  ["/", "find a line"],
  ["?", "these keys"],
];

function buildDialog() {
  const single = el("input", { type: "checkbox", id: "single", onchange: () => (state.keys = single.checked) });
  single.checked = true;
  parts.dialog = el(
    "dialog",
    { "aria-label": "Keys" },
    el("h2", {}, "Keys"),
    el(
      "dl",
      {},
      ...KEYS.flatMap(([key, what]) => [
        el("dt", {}, ...key.split(" ").map((each) => el("kbd", {}, each))),
        el("dd", {}, what),
      ]),
    ),
    el("p", {}, single, el("label", { for: "single" }, " Single keys act")),
    el("button", { class: "button", onclick: () => parts.dialog.close() }, "Close"),
  );
  document.body.append(parts.dialog);
}
