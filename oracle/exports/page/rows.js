// Draws the rows that are in view, with marks, values and the edges of the tree.

function drawRows() {
  const top = parts.source.scrollTop,
    tall = parts.source.clientHeight;
  const low = indexAt(top),
    above = stickyRows(top),
    drawn = [],
    made = [];
  for (let index = low; index < shownRows.length && tops[index] < top + tall; index++) {
    const each = shownRows[index];
    made.push(place(drawRow(each, index), { top: tops[index], height: each.height }));
    drawn.push({ each, y: tops[index] - top, tint: tintOf(each) });
  }
  parts.rows.replaceChildren(...made);
  parts.rows.style.height = `${height}px`;
  parts.sticky.replaceChildren(...above.map((each) => drawRow({ ...each, values: null }, -1)));
  parts.sticky.style.width = `${parts.source.clientWidth - columns.width}px`;
  drawMatrix([...drawn, ...above.map((each, index) => ({ each, y: index * 20, sticky: true }))]);
  parts.source.setAttribute("aria-rowcount", String(shownRows.length));
}

function indexAt(y) {
  // of the row at that height
  let low = 0,
    high = tops.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tops[middle] + shownRows[middle].height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

function stickyRows(top) {
  // the last named ancestors, scrolled away, of the first row that they leave visible
  let above = [];
  for (let count = 0; count <= 4; count++) {
    const below = shownRows[indexAt(top + count * 20)];
    if (!below) return above;
    above = shownRows
      .filter(
        (each, index) =>
          tops[index] < top + count * 20 &&
          tops[index] < tops[shownRows.indexOf(below)] &&
          each.row.nodes.length &&
          each.row.last >= below.row.at &&
          (nodes[each.row.nodes[0]].name || isInclude(each.row.nodes[0])),
      )
      .slice(-4);
    if (above.length <= count) return above;
  }
  return above;
}

function tintOf(each) {
  const node = each.row.nodes[0];
  if (node === undefined) return "";
  const mark = markAt(node, state.at);
  if (mark === FAULT) return "--err-soft";
  return ticks[state.at] && decisionOf(ticks[state.at]) === node
    ? { [NO]: "--fail-soft", [RUNNING]: "--run-soft" }[mark] || "--ok-soft"
    : "";
}

function drawRow(each, index) {
  const { row, fold, left } = each,
    node = row.nodes.length ? row.nodes[0] : null,
    mark = node === null ? UNASKED : markAt(node, state.at);
  const decides = node !== null && ticks[state.at] && decisionOf(ticks[state.at]) === node;
  const made = el("div", {
    class: [
      "row",
      row.at === state.row ? "selected" : "",
      decides ? `decision ${CLASSES[mark]}` : "",
      mark === FAULT ? "error" : "",
      mark === UNASKED && node !== null ? "unasked" : "",
    ].join(" "),
    role: "row",
    id: index < 0 ? null : `row-${row.at}`,
    "aria-level": row.level,
    "aria-selected": String(row.at === state.row),
    "data-row": row.at,
  });
  if (row.last > row.at && node !== null) made.setAttribute("aria-expanded", String(!fold));
  for (const guide of guidesOf(each)) made.append(guide);
  made.append(el("span", { class: "num" }, String(row.line)), node === null ? "" : svgMark(mark));
  const code = place(el("span", { class: "code", role: "gridcell", title: row.text.slice(0, 400) }), {
    left,
    width: Math.max(40, codeWidth() - left),
  });
  made.append(code);
  const source = el("span", { class: "text cut" });
  code.append(source);
  writeCode(source, each);
  const visit = node === null ? undefined : visits.get(node),
    label = [`line ${row.line}`, node === null ? row.text : `${nodes[node].kind}, ${WORDS[mark]}`];
  if (node !== null && nodes[node].name && !row.text.includes(nodes[node].name))
    code.append(el("span", { class: "tag" }, nodes[node].name));
  if (fold) {
    const count = row.last - row.at + 1,
      file = isInclude(node) ? nodes[children[node][0]].file : "";
    code.append(
      el(
        "span",
        { class: "tag fold" },
        [file || `${count} lines`, fold === "not asked" ? "not asked" : ""].filter(Boolean).join(" · "),
      ),
    );
  } else if (node !== null && isInclude(node))
    code.append(el("span", { class: "said" }, `▤ ${nodes[children[node][0]].file}`));
  if (visit && visit.text && !each.values) code.append(el("span", { class: "said cut" }, ...strong(visit.text)));
  if (visit && !visit.text && nodes[node].kind === "set")
    visit.writes.forEach(([key, value]) =>
      code.append(
        el(
          "span",
          { class: "said cut" },
          `${key} ${shown(valueAt(key, state.at - 1), 24)} → `,
          el("b", {}, shown(value, 24)),
        ),
      ),
    );
  if (each.values) writeValues(made, code, each, label);
  made.setAttribute("aria-label", label.join(", "));
  return made;
}

const strong = (text) => text.split(/(\d[\d,.]*|"[^"]*")/).map((part, index) => (index % 2 ? el("b", {}, part) : part));

function writeCode(code, each) {
  const { row } = each,
    text = row.text.slice(0, 400),
    spans = [];
  for (const evaluation of each.fold ? [] : evaluated.get(row.at) || []) {
    if (evaluation.column === null) continue;
    const from = evaluation.column - 1 - row.ind;
    const parts = evaluation.clauses.filter(
      (one) =>
        !evaluation.clauses.some(
          (other) =>
            other !== one &&
            other.start >= one.start &&
            other.end <= one.end &&
            other.end - other.start < one.end - one.start,
        ),
    );
    for (const clause of parts)
      if (clause.asked)
        spans.push([
          from + clause.start,
          from + clause.end,
          evaluation.error && clause.value === null ? "fault" : isTrue(clause.value) ? "yes" : "no",
        ]);
  }
  spans.sort((one, other) => one[0] - other[0]);
  const head = row.comment ? [text, "note"] : text.match(/^(- )?([\w-]+:?)?/);
  let at = 0;
  const put = (to, kind) => {
    if (to > at) code.append(kind ? el("span", { class: kind }, text.slice(at, to)) : text.slice(at, to));
    at = Math.max(at, to);
  };
  if (row.comment) return put(text.length, "note");
  put((head[1] || "").length, "dash");
  put(head[0].length, row.nodes.length ? "kind" : "key");
  for (const [from, to, kind] of spans) {
    put(from, "");
    put(Math.min(to, text.length), `clause ${kind}`);
  }
  const hidden =
      each.values ||
      (row.nodes.length && (visits.get(row.nodes[0]) || {}).text) ||
      (state.follow && row.nodes.length && isInclude(row.nodes[0])),
    note = hidden ? -1 : text.indexOf(" # ", at);
  if (note >= 0) {
    put(note, "");
    put(text.length, "note");
  } else {
    const end = hidden && text.indexOf(" # ", at) >= 0 ? text.indexOf(" # ", at) : text.length;
    put(end, "");
  }
}

function writeValues(made, code, each, label) {
  const { values: found, left } = each,
    kind = { yes: "yes", no: "no", error: "fault" }[found.verdict] || "";
  const verdict = found.verdict ? el("span", { class: `verdict ${kind}` }, `→ ${found.verdict}`) : "";
  const list = found.list.flatMap(([name, value], index) => [`${index ? " · " : ""}${name} `, el("b", {}, value)]);
  label.push(...found.list.map(([name, value]) => `${name} ${value}`));
  if (found.under) {
    for (const value of found.placed)
      made.append(
        place(el("span", { class: `val ${value.yes}` }, value.text), { left: left + value.from * charWidth }),
      );
    made.append(place(el("span", { class: "val" }, verdict), { left: left + (found.end + 2) * charWidth }));
  } else if (found.below) {
    const wide = codeWidth() - left - 90,
      line = el("span", { class: "cut" }, ...list);
    line.style.display = "inline-block";
    line.style.verticalAlign = "top";
    line.style.maxWidth = `${wide}px`;
    made.append(place(el("span", { class: "under" }, line, " ", verdict), { left: left + 2 * charWidth }));
  } else code.append(list.length ? el("span", { class: "said cut" }, ...list) : "", verdict);
  if (found.error) made.append(place(el("span", { class: "fault-line" }, found.error), { left }));
}

function guidesOf(each) {
  // the tree's edges: those to the decision in the colour of its status
  const made = [],
    { row } = each,
    mark = path.length ? CLASSES[markAt(path[path.length - 1], state.at)] : "";
  for (let index = 1; index < path.length; index++) {
    const from = rowOf[path[index - 1]],
      to = rowOf[path[index]];
    if (row.at <= from || row.at > to || from === to) continue;
    const x = 66 + rows[from].x - leftEdge,
      arm = 64 + rows[to].x - leftEdge - x - 2;
    made.push(place(el("i", { class: `edge ${mark} ${row.at === to ? "end" : ""}` }), { left: x }));
    if (row.at === to) made.push(place(el("i", { class: `edge arm ${mark}` }), { left: x, width: Math.max(0, arm) }));
  }
  let owner = row.nodes.length ? nodes[row.nodes[0]].parent : row.owner;
  for (; owner !== null && owner !== undefined; owner = nodes[owner].parent) {
    if (rowOf[owner] === row.at || (onPath.has(owner) && made.length && rows[rowOf[owner]].x === undefined)) continue;
    made.unshift(place(el("i", { class: "guide" }), { left: 66 + rows[rowOf[owner]].x - leftEdge }));
  }
  return made;
}
