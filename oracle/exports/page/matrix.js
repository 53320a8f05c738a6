// Draws on canvases: the marks of every row at every tick, and the heads of the columns.

let colours = {},
  columns = { x: [], w: [], total: 0, width: 0, from: 0 };
const colour = (name) =>
  (colours[name] = colours[name] || getComputedStyle(document.documentElement).getPropertyValue(name).trim());
const codeWidth = () => parts.source.clientWidth - columns.width - 12;

function canvas(target, width, height) {
  const scale = window.devicePixelRatio || 1;
  target.width = Math.round(width * scale);
  target.height = Math.round(height * scale);
  target.style.width = `${width}px`;
  target.style.height = `${height}px`;
  const pen = target.getContext("2d");
  pen.scale(scale, scale);
  pen.textBaseline = "middle";
  return pen;
}
const box = (pen, x, y, width, height, fill, radius = 0) => {
  pen.fillStyle = fill;
  pen.beginPath();
  pen.roundRect(x, y, width, height, radius);
  pen.fill();
};
const line = (pen, points, stroke, width = 1, dash = []) => {
  pen.strokeStyle = stroke;
  pen.lineWidth = width;
  pen.setLineDash(dash);
  pen.beginPath();
  points.forEach(([x, y], index) => (index ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.stroke();
  pen.setLineDash([]);
};
const words = (pen, text, x, y, fill, font = "11px", align = "left") => {
  pen.fillStyle = fill;
  pen.font = `${font} ${colour("--sans")}`;
  pen.textAlign = align;
  pen.fillText(text, x, y);
};
const triangle = (pen, x, y, fill) => {
  pen.fillStyle = fill;
  pen.beginPath();
  pen.moveTo(x, y - 5);
  pen.lineTo(x + 5, y + 4);
  pen.lineTo(x - 5, y + 4);
  pen.fill();
};

function setColumns() {
  const wide = window.innerWidth >= 1500,
    room = Math.min(wide ? 400 : window.innerWidth < 700 ? 66 : 264, parts.work.clientWidth / 2);
  const equal = Math.max(wide ? 14 : 11, Math.min(wide ? 17 : 12, (room - 8) / Math.max(1, ticks.length)));
  const span = ticks.map((tick, at) => (at + 1 < ticks.length ? ticks[at + 1].at_s - tick.at_s : 0)),
    whole = span.reduce((sum, each) => sum + each, 0);
  const w = ticks.map((_, at) => (state.time && whole ? Math.max(5, (span[at] / whole) * (room - 8)) : equal)),
    x = [];
  const total = w.reduce((sum, each) => {
      x.push(sum);
      return sum + each;
    }, 0),
    width = Math.min(room, total + 8);
  const from = Math.max(0, Math.min((x[state.at] || 0) - width / 2, total + 8 - width));
  columns = { x, w, total, width, from };
}
const columnRange = () => {
  let first = 0;
  while (first < ticks.length && columns.x[first] + columns.w[first] < columns.from) first++;
  let last = first;
  while (last < ticks.length && columns.x[last] < columns.from + columns.width) last++;
  return [first, last];
};
const xOf = (at) => 4 + columns.x[at] - columns.from;

function drawColumns() {
  const pen = canvas(parts.columns, columns.width + 12, 35),
    [first, last] = columnRange();
  let begun = first;
  for (let at = first; at < last; at++) {
    const x = xOf(at),
      w = columns.w[at],
      notice = run.notices.some((each) => each.tick === ticks[at].tick);
    if (at === last - 1 || ticks[at + 1].turn !== ticks[at].turn) {
      const left = xOf(begun),
        right = x + w,
        turn = ticks[at].turn,
        here = ticks[state.at].turn === turn;
      const label = turn === 0 ? "" : right - left > 44 ? `turn ${turn}` : right - left > 9 ? String(turn) : "";
      words(
        pen,
        label,
        (left + right) / 2,
        8,
        colour(here ? "--ink" : "--ink-3"),
        here ? "600 11px" : "11px",
        "center",
      );
      line(
        pen,
        [
          [left + 1, 17],
          [right - 1, 17],
        ],
        colour(here ? "--ink" : "--line-2"),
        here ? 2 : 1,
      );
      begun = at + 1;
    }
    if (ticks[at].errors.length) {
      pen.save();
      pen.translate(x + w / 2, 27);
      pen.rotate(Math.PI / 4);
      box(pen, -3.5, -3.5, 7, 7, colour("--err-fill"));
      pen.restore();
    } else if (notice) triangle(pen, x + w / 2, 27, colour("--warn-fill"));
    else if (w > 8) box(pen, x + w / 2 - 1, 26, 2, 2, colour("--line-3"), 1);
  }
  if (!ticks.length) return;
  const label = String(ticks[state.at].tick),
    wide = label.length * 7 + 8,
    middle = Math.max(wide / 2, Math.min(columns.width - wide / 2, xOf(state.at) + columns.w[state.at] / 2));
  box(pen, middle - wide / 2, 19, wide, 16, colour("--head"), 3);
  words(pen, label, middle, 27.5, colour("--on-ink"), "600 11px", "center");
}

function drawMatrix(shownNow) {
  // [{each, y}], the sticky ones last
  const tall = parts.source.clientHeight,
    pen = canvas(parts.matrix, columns.width, tall),
    [first, last] = columnRange();
  parts.matrix.style.left = `${parts.source.clientWidth - columns.width}px`;
  box(pen, 0, 0, columns.width, tall, colour("--surface"));
  const ground = (top, height) => {
    for (let at = first; at < last; at++)
      if (ticks[at].turn % 2) box(pen, xOf(at), top, columns.w[at] + 0.5, height, colour("--surface-2"));
    if (ticks.length) box(pen, xOf(state.at), top, columns.w[state.at], height, colour("--head-soft"));
  };
  ground(0, tall);
  for (const { each, y, sticky, tint } of shownNow) {
    if (sticky) {
      box(pen, 0, y, columns.width, 20, colour("--surface"));
      ground(y, 20);
    }
    if (tint) {
      pen.globalAlpha = 0.8;
      box(pen, 0, y, columns.width, each.height, colour(tint));
      pen.globalAlpha = 1;
    }
    const node = each.row.nodes.length ? each.row.nodes[0] : null;
    if (node !== null) for (let at = first; at < last; at++) drawMark(pen, markAt(node, at), node, at, y + 10);
  }
  if (ticks.length)
    line(
      pen,
      [
        [xOf(state.at) + 0.5, 0],
        [xOf(state.at) + 0.5, tall],
      ],
      colour("--head"),
      1,
    );
}

function drawMark(pen, code, node, at, y) {
  const x = xOf(at),
    w = columns.w[at],
    middle = x + w / 2,
    size = Math.min(9, w - 2),
    fill = colour(COLOURS[code]);
  if (code === YES) box(pen, middle - size / 2, y - size / 2, size, size, fill, 2);
  else if (code === GUARD) box(pen, middle - 2, y - 2, 4, 4, fill, 1);
  else if (code === NO) {
    const half = size / 2 - 0.5;
    line(
      pen,
      [
        [middle - half, y - half],
        [middle + half, y + half],
      ],
      fill,
      1.6,
    );
    line(
      pen,
      [
        [middle + half, y - half],
        [middle - half, y + half],
      ],
      fill,
      1.6,
    );
  } else if (code === FAULT) {
    pen.save();
    pen.translate(middle, y);
    pen.rotate(Math.PI / 4);
    box(pen, -size / 2.4, -size / 2.4, size / 1.2, size / 1.2, fill, 1);
    pen.restore();
  } else if (code !== UNASKED) {
    const before = at > 0 && [RUNNING, CARRIED].includes(markAt(node, at - 1)),
      after = at + 1 < ticks.length && [RUNNING, CARRIED, HALTED].includes(markAt(node, at + 1));
    box(
      pen,
      before ? x - 1 : x + 1,
      y - 3,
      w - (before ? 0 : 2) + (after ? 2 : 0) - (code === HALTED ? 3 : 0),
      6,
      fill,
      before && after ? 0 : 2,
    );
    if (code === HALTED) box(pen, x + w - 4, y - 5, 2, 10, fill);
  } else if (w > 8 && at > 0 && markAt(nodes[node].parent, at) !== UNASKED)
    box(pen, middle - 0.75, y - 0.75, 1.5, 1.5, fill, 1);
}
