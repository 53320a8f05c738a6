// Moving through the run: ticks, lines, keys, mouse; and the start of the page.

let pending = 0;
function update() {
  // once per frame
  if (!pending)
    pending = requestAnimationFrame(() => {
      pending = 0;
      draw();
    });
}

function draw() {
  const tick = ticks[state.at];
  setColumns();
  readTick();
  chooseRows();
  parts.follow.update();
  parts.axis.update();
  if (tick) {
    const last = ticks[ticks.length - 1].tick,
      [first, ...rest] = (headlineOf(tick) || "").split(/(?<=[.!?]) /);
    parts.where.replaceChildren(
      el("b", {}, `Tick ${tick.tick}`),
      ` of ${last} · turn ${tick.turn} · ${tick.at_s.toFixed(2)} s`,
    );
    parts.headline.replaceChildren(el("b", {}, first), rest.length ? ` ${rest.join(" ")}` : "");
    parts.headline.title = headlineOf(tick);
    parts.overview.setAttribute("aria-valuenow", tick.tick);
    parts.overview.setAttribute("aria-valuetext", `tick ${tick.tick} of ${last}, turn ${tick.turn}`);
  }
  const names = [...path.slice(0, -1).filter((index) => nodes[index].name || isInclude(index)), ...path.slice(-1)];
  parts.crumbs.replaceChildren(
    el(
      "span",
      {},
      run.tree ? run.tree.file : "",
      ...names.map((index, at) => el(at === names.length - 1 ? "b" : "span", {}, ` › ${title(index)}`)),
    ),
  );
  drawColumns();
  drawRows();
  drawOverview();
  drawPanes();
  parts.source.setAttribute("aria-activedescendant", state.row >= 0 ? `row-${state.row}` : "");
}

function headlineOf(tick) {
  const decision = decisionOf(tick),
    end = run.end && run.end.tick === tick.tick ? run.end : null,
    said = end && !tick.headline.includes(end.sentence) ? end.sentence : tick.headline;
  if (said && said !== OMITTED) return end && end.cause ? `${said} Cause: ${end.cause}` : said;
  return decision === null
    ? "What decided this tick is not known."
    : `${title(decision)} decided: ${WORDS[markAt(decision, ticks.indexOf(tick))]}.`;
}

function go(at) {
  const next = Math.max(0, Math.min(ticks.length - 1, at));
  if (!ticks.length || next === state.at) return;
  state.at = next;
  if (state.follow) state.open.clear();
  update();
  reveal();
}

function reveal(row) {
  // scroll to a row, by default to the decision
  requestAnimationFrame(() => {
    const decision = ticks.length ? decisionOf(ticks[state.at]) : null,
      wanted = row !== undefined ? row : decision === null ? -1 : rowOf[decision];
    let index = shownRows.findIndex(
      (each) => each.row.at <= wanted && each.row.last >= wanted && (each.fold || each.row.at === wanted),
    );
    if (index < 0) index = shownRows.findIndex((each) => each.row.at >= wanted);
    if (wanted < 0 || index < 0) return;
    const top = tops[index],
      tall = parts.source.clientHeight,
      now = parts.source.scrollTop;
    if (top < now + 100 || top > now + tall - 60) parts.source.scrollTop = Math.max(0, top - tall * 0.62);
    drawRows();
  });
}

function goTurn(step) {
  const turn = ticks[state.at].turn;
  let at = state.at;
  while (at >= 0 && at < ticks.length && ticks[at].turn === turn) at += step;
  if (step < 0) while (at > 0 && ticks[at - 1].turn === ticks[at].turn) at--;
  go(at);
}

function select(step) {
  let index = shownRows.findIndex((each) => each.row.at === state.row);
  if (index < 0)
    index = shownRows.findIndex((each) => ticks.length && rowOf[decisionOf(ticks[state.at])] === each.row.at) - step;
  const next = shownRows[Math.max(0, Math.min(shownRows.length - 1, index + step))];
  if (!next) return;
  state.row = next.row.at;
  update();
  reveal(state.row);
}

function toggle(at) {
  const each = shownRows.find((one) => one.row.at === at);
  if (!each || !each.row.nodes.length || each.row.last === at) return;
  state.open.set(at, Boolean(each.fold));
  update();
}

function play() {
  if (state.playing) {
    clearInterval(state.playing);
    state.playing = 0;
  } else {
    if (state.at >= ticks.length - 1) go(0);
    state.playing = setInterval(() => {
      if (state.at >= ticks.length - 1) play();
      else go(state.at + 1);
    }, 400);
  }
  parts.play.replaceChildren(svgIcon(state.playing ? ICONS.pause : ICONS.play));
}

function nextWith(test) {
  for (let step = 1; step <= ticks.length; step++) {
    const at = (state.at + step) % ticks.length;
    if (test(at)) return go(at);
  }
}

function nextError() {
  nextWith((at) => ticks[at].errors.length > 0);
  const [where] = ticks[state.at].errors[0] || [];
  const node = nodes.find((each) => each.path === where);
  if (!node) return;
  state.row = rowOf[node.index];
  update();
  reveal(state.row);
}

function find(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return;
  for (let step = 1; step <= rows.length; step++) {
    const row = rows[(Math.max(0, state.row) + step) % rows.length];
    if (!row.text.toLowerCase().includes(wanted)) continue;
    rows.forEach(
      (each) => each.nodes.length && each.at < row.at && each.last >= row.at && state.open.set(each.at, true),
    );
    if (row.owner === null && !row.nodes.length) state.follow = false;
    state.row = row.at;
    update();
    return reveal(row.at);
  }
}

function searching(on) {
  parts.find.hidden = !on;
  parts.crumbs.hidden = on;
  (on ? parts.find : parts.source).focus();
}

function decide() {
  const decision = decisionOf(ticks[state.at]);
  if (decision === null) return;
  state.row = rowOf[decision];
  update();
  reveal();
}

const ACTIONS = {
  ArrowLeft: () => go(state.at - 1),
  ArrowRight: () => go(state.at + 1),
  "Shift+ArrowLeft": () => goTurn(-1),
  "Shift+ArrowRight": () => goTurn(1),
  Home: () => go(0),
  End: () => go(ticks.length - 1),
  ArrowUp: () => select(-1),
  ArrowDown: () => select(1),
  Enter: () => toggle(state.row),
  d: decide,
  e: nextError,
  n: () => {
    const row = rows[state.row];
    if (row && row.nodes.length) nextWith((at) => ticks[at].visited.includes(row.nodes[0]));
  },
  " ": play,
  t: () => {
    state.time = !state.time;
    update();
  },
  a: () => {
    state.follow = !state.follow;
    state.open.clear();
    update();
    reveal();
  },
  1: () => choose("Why"),
  2: () => choose("Answer"),
  3: () => choose("Blackboard"),
  4: () => choose("Messages"),
  "/": () => searching(true),
  "?": () => parts.dialog.showModal(),
};

function press(event) {
  const inField = event.target === parts.find,
    focused = event.target.closest("button, summary, dialog");
  if (inField && event.key === "Enter") {
    find(parts.find.value);
    event.preventDefault();
    return;
  }
  if (inField && event.key === "Escape") return searching(false);
  if (
    inField ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    (focused && ["Enter", " "].includes(event.key)) ||
    parts.dialog.open
  )
    return;
  const single = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const act = ACTIONS[event.shiftKey && event.key.startsWith("Arrow") ? `Shift+${event.key}` : single];
  if (!act || (event.key.length === 1 && !state.keys && event.key !== "?")) return;
  if (!ticks.length && event.key !== "?") return;
  event.preventDefault();
  act();
}

function drag(target, tickAt) {
  const move = (event) => go(tickAt(event.clientX - target.getBoundingClientRect().left));
  target.addEventListener("pointerdown", (event) => {
    target.setPointerCapture(event.pointerId);
    move(event);
  });
  target.addEventListener("pointermove", (event) => event.buttons && move(event));
}

function nearest(places, x) {
  let best = 0;
  places.forEach((place, at) => {
    if (Math.abs(place - x) <= Math.abs(places[best] - x)) best = at;
  });
  return best;
}

function listen() {
  drag(parts.overview, (x) => {
    const scale = timeScale();
    return nearest(
      ticks.map((_, at) => scale.at(at)),
      x,
    );
  });
  for (const each of [parts.matrix, parts.columns])
    drag(each, (x) =>
      nearest(
        ticks.map((_, at) => xOf(at) + columns.w[at] / 2),
        x,
      ),
    );
  parts.matrix.addEventListener("wheel", (event) => (parts.source.scrollTop += event.deltaY), { passive: true });
  parts.source.addEventListener("scroll", () => requestAnimationFrame(drawRows), { passive: true });
  parts.work.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (!row) return;
    state.row = Number(row.dataset.row);
    if (event.target.closest(".fold, .num")) toggle(state.row);
    update();
  });
  parts.find.addEventListener("blur", () => parts.find.value || searching(false));
  document.addEventListener("keydown", press);
  window.addEventListener("resize", () => {
    buildPanes();
    update();
  });
}

function switchTheme() {
  theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  update();
}

function theme(name) {
  document.documentElement.dataset.theme = name;
  parts.theme.textContent = name === "dark" ? "Light" : "Dark";
  colours = {};
}

build();
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
theme(prefersDark.matches ? "dark" : "light");
prefersDark.addEventListener("change", () => {
  theme(prefersDark.matches ? "dark" : "light");
  update();
});
buildPanes();
const measured = document.createElement("canvas").getContext("2d");
measured.font = `12px ${colour("--mono")}`;
charWidth = measured.measureText("0".repeat(100)).width / 100;
listen();
draw();
reveal();
