// Draws the whole run in true time: turns, tools, notices, and how near the limits were.

const LEFT = 72,
  RIGHT = 152;
function timeScale() {
  const ends = [...ticks.map((tick) => tick.at_s), ...run.turns.map((turn) => turn.ended_s || 0)],
    whole = Math.max(0, ...ends);
  const width = parts.overview.clientWidth - LEFT - (window.innerWidth < 900 ? 12 : RIGHT),
    even = whole === 0;
  return {
    at: (position) =>
      LEFT + (even ? (position + 0.5) / Math.max(1, ticks.length) : ticks[position].at_s / whole) * width,
    s: (s) => LEFT + (even ? 0 : s / whole) * width,
    width,
    even,
    whole,
  };
}

function drawOverview() {
  const wide = parts.overview.clientWidth,
    pen = canvas(parts.overview.firstChild, wide, 131),
    scale = timeScale(),
    here = ticks[state.at];
  [
    ["Model", 28],
    ["Tools", 43],
    ["Notices", 60],
    ["Limit", 79],
  ].forEach(([text, y]) => words(pen, text, 16, y, colour("--ink-3")));
  const positionOf = (tick) =>
    Math.max(
      0,
      ticks.findIndex((each) => each.tick === tick),
    );
  run.turns.forEach((turn, index) => {
    const next = run.turns[index + 1];
    const left = scale.even ? scale.at(positionOf(turn.began_tick)) : scale.s(turn.began_s),
      right = scale.even
        ? scale.at(positionOf(turn.ended_tick || turn.began_tick))
        : scale.s(turn.ended_s === null ? scale.whole : turn.ended_s);
    const end = next
      ? scale.even
        ? scale.at(positionOf(next.began_tick))
        : scale.s(next.began_s)
      : LEFT + scale.width;
    if (index % 2 === 0) box(pen, left, 0, end - left, 131, colour("--surface-2"));
    if (end - left > 46)
      words(
        pen,
        `Turn ${turn.n}`,
        left + 5,
        11,
        colour(here && here.turn === turn.n ? "--ink" : "--ink-3"),
        here && here.turn === turn.n ? "600 11px" : "11px",
      );
    box(pen, left + 1, 22, Math.max(2, right - left - 2), 12, colour(turn.error ? "--err-fill" : "--run-fill"), 2);
    if (right - left > 50 && turn.ended_s !== null)
      words(pen, seconds(turn.ended_s - turn.began_s), left + 5, 28.5, colour("--on-mark"), "10px");
  });
  const busy = [];
  run.calls.forEach((call) => {
    const left = scale.even ? scale.at(positionOf(call.began_tick)) : scale.s(call.began_s),
      right = scale.even ? left + 4 : scale.s(call.ended_s === null ? call.began_s : call.ended_s);
    let lane = busy.findIndex((until) => until <= left);
    if (lane < 0) lane = busy.length;
    busy[lane] = Math.max(right, left + 4);
    if (lane < 3)
      box(pen, left, 38 + lane * 5, Math.max(3, right - left), 4, colour(call.is_error ? "--err-fill" : "--ink-2"), 1);
  });
  let free = 0;
  run.notices.forEach((notice) => {
    const x = Math.min(LEFT + scale.width - 5, scale.even ? scale.at(positionOf(notice.tick)) : scale.s(notice.at_s));
    triangle(pen, x, 60, colour("--warn-fill"));
    const text = (notice.text === OMITTED ? notice.type : notice.text).split(". ")[0].slice(0, 44);
    pen.font = `11px ${colour("--sans")}`;
    if (x > free && x + 9 + pen.measureText(text).width < wide - 8) {
      words(pen, text, x + 9, 60, colour("--warn"));
      free = x + 18 + pen.measureText(text).width;
    }
  });
  const limits = run.run.limits,
    warn = limits.soft_warning_percent,
    top = 76,
    foot = 122,
    yOf = (share) => foot - Math.min(1.05, share) * (foot - top);
  line(
    pen,
    [
      [LEFT, top + 0.5],
      [LEFT + scale.width, top + 0.5],
    ],
    colour("--line-3"),
  );
  if (warn) {
    line(
      pen,
      [
        [LEFT, yOf(warn / 100)],
        [LEFT + scale.width, yOf(warn / 100)],
      ],
      colour("--warn-fill"),
      1,
      [3, 3],
    );
    words(pen, `${warn} %`, 16, yOf(warn / 100) + 2, colour("--warn"));
  }
  const until = here ? here.at_s : 0,
    figures = [];
  const steps = (name, limit, amount, dash, label) => {
    if (!limit) return;
    let sum = 0,
      now = 0;
    const points = [[LEFT, foot]];
    run.turns.forEach((turn) => {
      if (turn.ended_tick === null) return;
      const x = scale.even ? scale.at(positionOf(turn.ended_tick)) : scale.s(turn.ended_s);
      points.push([x, yOf(sum / limit)]);
      sum += amount(turn);
      points.push([x, yOf(sum / limit)]);
      if (here && turn.ended_tick <= here.tick) now = sum;
    });
    points.push([LEFT + scale.width, yOf(sum / limit)]);
    line(pen, points, colour("--ink"), 1.4, dash);
    figures.push([label, `${compact(now)}/${limit >= 1000 ? `${limit / 1000}k` : limit}`, dash]);
  };
  steps("turns", limits.max_iterations, () => 1, [], "turns");
  steps("tokens", limits.token_budget, (turn) => turn.tokens, [4, 2], "tokens");
  if (limits.timeout_seconds && !scale.even) {
    line(
      pen,
      [
        [LEFT, foot],
        [LEFT + scale.width, yOf(scale.whole / limits.timeout_seconds)],
      ],
      colour("--ink-3"),
      1,
      [1.5, 2],
    );
    figures.push(["time", `${until.toFixed(1)}/${limits.timeout_seconds} s`, [1.5, 2]]);
  }
  if (window.innerWidth >= 900)
    figures.forEach(([label, text, dash], index) => {
      const x = LEFT + scale.width + 8,
        y = 88 + index * 15;
      line(
        pen,
        [
          [x, y],
          [x + 14, y],
        ],
        colour("--ink"),
        1.5,
        dash,
      );
      words(pen, label, x + 20, y, colour("--ink-3"));
      pen.font = `11px ${colour("--sans")}`;
      words(pen, text, x + 24 + pen.measureText(label).width, y, colour("--ink"), "600 11px");
    });
  ticks.forEach(
    (tick, at) => tick.errors.length && words(pen, "◆", scale.at(at), 12, colour("--err-fill"), "11px", "center"),
  );
  if (!ticks.length) return;
  const x = scale.at(state.at);
  line(
    pen,
    [
      [x, 0],
      [x, 131],
    ],
    colour("--head"),
    2,
  );
  box(pen, x - 5, 0, 10, 9, colour("--head"), 2);
}
