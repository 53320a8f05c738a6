// ---------------------------------------------------------------- rows: the source, subtrees folded in

// A row: {file, line, text, ind, x, level, nodes, owner, last, comment}; `last`: the last row of its node's lines.
const rows = [], rowOf = new Int32Array(nodes.length).fill(-1);
const children = nodes.map(() => []);
nodes.forEach((node) => node.parent !== null && children[node.parent].push(node.index));
const isInclude = (index) => nodes[index].kind === "subtree" && children[index].length > 0;

function addFile(root, x, level) {
  const mine = []; // the nodes of this use of the file
  (function walk(index) {
    mine.push(index);
    if (!isInclude(index)) children[index].forEach(walk);
  })(root);
  const file = nodes[root].file, lines = (run.tree.files[file] || "").split("\n");
  const starts = new Map();
  mine.forEach((index) => starts.set(nodes[index].line, [...(starts.get(nodes[index].line) || []), index]));
  const indent = (line) => line.length - line.trimStart().length;
  const open = []; // [node, indent, row, begins with a dash] of the nodes whose lines these are
  const close = (until) => {
    while (open.length > until) {
      const ended = open.pop();
      rows[ended[2]].last = rows.length - 1;
      if (isInclude(ended[0]) && !ended[4]) {
        addFile(children[ended[0]][0], rows[ended[2]].x + 14, rows[ended[2]].level + 1);
        rows[ended[2]].last = rows.length - 1;
        open.forEach((each) => (rows[each[2]].last = rows.length - 1));
      }
    }
  };
  const base = indent(lines[nodes[root].line - 1] || "");
  lines.forEach((text, number) => {
    const ind = indent(text), begun = starts.get(number + 1), blank = !text.trim(), comment = text.trimStart().startsWith("#");
    if (!blank) {
      let depth = open.length;
      while (depth && (ind < open[depth - 1][1] || (ind === open[depth - 1][1] && !(text[ind] === "-" && !open[depth - 1][3])))) depth--;
      close(depth);
    }
    const owner = open.length ? open[open.length - 1][0] : null;
    const row = { file, line: number + 1, text: text.trimStart(), ind, x: x + (ind - base) * 4, level: level + open.length, nodes: begun || [], owner, last: rows.length, comment, blank, at: rows.length };
    rows.push(row);
    (begun || []).forEach((index) => (rowOf[index] = row.at));
    if (begun) open.push([begun[0], ind, row.at, text[ind] === "-"]);
  });
  while (lines.length && rows[rows.length - 1].blank && rows[rows.length - 1].file === file) rows.pop();
  close(0);
}
if (nodes.length) addFile(0, 0, 1);
const rowAt = new Map(); // node of the row → line → row, for settings on lines of their own
rows.forEach((row) => {
  const node = row.nodes.length ? row.nodes[0] : row.owner;
  if (node !== null && !rowAt.has(`${node}:${row.line}`)) rowAt.set(`${node}:${row.line}`, row.at);
});

// ---------------------------------------------------------------- what is shown

const state = { at: 0, row: -1, follow: true, time: false, tab: "Why", open: new Map(), keys: true, finding: "", playing: 0 };
const position = ticks.findIndex((tick) => tick.tick === firstTick);
state.at = position < 0 ? Math.max(0, ticks.length - 1) : position;
let path = [], onPath = new Set(), visits = new Map(), evaluated = new Map(), shownRows = [], tops = [], height = 0, leftEdge = 0;

const title = (index) => {
  const node = nodes[index];
  return node.name || (isInclude(index) ? nodes[children[index][0]].file.replace(/\.yaml$/, "") : node.kind);
};
const placeOf = (index) => `${nodes[index].file.replace(/\.yaml$/, "")}:${nodes[index].line}`;

function readTick() {
  const tick = ticks[state.at];
  visits = new Map(); evaluated = new Map(); path = [];
  if (!tick) return;
  for (const visit of tick.visits) {
    visits.set(visit.node, visit);
    for (const evaluation of visit.evaluations) {
      const row = rowAt.get(`${visit.node}:${evaluation.line}`);
      const at = row === undefined ? rowOf[visit.node] : row;
      evaluated.set(at, [...(evaluated.get(at) || []), { ...evaluation, node: visit.node }]);
    }
  }
  for (let node = decisionOf(tick); node !== null; node = nodes[node].parent) path.unshift(node);
  onPath = new Set(path);
}

const decisionOf = (tick) => (run.end && run.end.tick === tick.tick && run.end.node !== null ? run.end.node : tick.decision);

function foldState(row) { // of a row with a node: open, or why it is closed
  const node = row.nodes[0], mark = markAt(node, state.at);
  if (row.last === row.at) return "";
  const chosen = state.open.get(row.at);
  if (chosen !== undefined) return chosen ? "" : "folded";
  if (!state.follow || onPath.has(node) && children[node].length) return "";
  if (mark === UNASKED) return "not asked";
  if (!children[node].length) return evaluated.size && hasEvaluations(row) ? "" : "folded";
  return isInclude(node) && mark === NO && !hasFault(row) ? "folded" : "";
}
const hasFault = (row) => rows.slice(row.at, row.last + 1).some((each) => each.nodes.some((node) => markAt(node, state.at) === FAULT));
const hasEvaluations = (row) => { for (let at = row.at + 1; at <= row.last; at++) if (evaluated.has(at)) return true; return false; };

function chooseRows() {
  shownRows = [];
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at];
    if (row.nodes.length) {
      const fold = foldState(row);
      shownRows.push({ row, fold });
      if (fold) at = row.last;
    } else if (!state.follow || (row.owner !== null && !row.blank && !/^(children|name):/.test(row.text)
      && !(row.comment && rows[at - 1].comment))) shownRows.push({ row, fold: "" });
  }
  leftEdge = shownRows.reduce((least, each) => Math.min(least, each.row.x), Infinity);
  tops = [];
  height = 0;
  for (const each of shownRows) {
    each.left = 64 + each.row.x - leftEdge;
    each.values = layout(each);
    each.height = 20 + (each.values && each.values.below ? 20 : 0) + (each.values && each.values.error ? 20 : 0);
    tops.push(height);
    height += each.height;
  }
}

// The values of the expressions of a row: below their operands, or as a list.
function layout({ row, fold, left }) {
  let found = evaluated.get(row.at) || [];
  if (fold && isInclude(row.nodes[0])) { // why a folded subtree says no: its first condition that did
    for (let at = row.at + 1; at <= row.last && !found.length; at++) found = (evaluated.get(at) || []).filter((each) => !isTrue(each.value));
    found = found.slice(0, 1).map((each) => ({ ...each, column: null }));
  }
  if (!found.length || (nodes[found[0].node].kind === "set" && !found.some((each) => each.error))) return null;
  const wide = (codeWidth() - left) / charWidth;
  const placed = [], list = [];
  let end = -1, fits = found.every((each) => each.column !== null && !fold && each.column - 1 - row.ind >= 0);
  for (const each of found) {
    const operands = each.operands.flatMap((operand) => (operand.at.length ? operand.at : [0]).map((at) => ({ ...operand, from: each.column - 1 - row.ind + at })));
    operands.sort((one, other) => one.from - other.from).forEach((operand) => {
      const text = shown(operand.value, 24), clause = each.clauses.find((c) => operand.from - each.column + 1 + row.ind >= c.start && operand.from - each.column + 1 + row.ind < c.end && c.asked);
      if (operand.from <= end) fits = false;
      placed.push({ from: operand.from, text, yes: clause ? (each.error ? "fault" : isTrue(clause.value) ? "yes" : "no") : "" });
      end = operand.from + text.length;
    });
    for (const operand of each.operands) list.push([operand.name, shown(operand.value, 40)]);
  }
  const first = found[0], judged = first.setting === "when" || /until|while|if/.test(first.setting) || typeof first.value === "boolean";
  const verdict = found.some((each) => each.error) ? "error" : judged ? (found.every((each) => isTrue(each.value)) ? "yes" : "no") : first.operands.length ? `${shown(first.value, 24)}` : "";
  if (end + 10 > wide) fits = false;
  const matters = onPath.has(first.node) || verdict === "error" || (verdict === "yes" && first.clauses.length > 1);
  const text = row.text.length > 400 ? 400 : row.text.length;
  const room = wide - text - 4, length = list.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 8);
  const below = matters && list.length > 0 || length > room && list.length > 0 && verdict !== "" && onPath.has(first.node);
  return { placed, list, verdict, below, under: below && fits, error: found.map((each) => each.error).find(Boolean) || "", end };
}

// ---------------------------------------------------------------- rows

function drawRows() {
  const top = parts.source.scrollTop, tall = parts.source.clientHeight;
  const low = indexAt(top), above = stickyRows(top), drawn = [], made = [];
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

function indexAt(y) { // of the row at that height
  let low = 0, high = tops.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tops[middle] + shownRows[middle].height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

function stickyRows(top) { // the last named ancestors, scrolled away, of the first row that they leave visible
  let above = [];
  for (let count = 0; count <= 4; count++) {
    const below = shownRows[indexAt(top + count * 20)];
    if (!below) return above;
    above = shownRows.filter((each, index) => tops[index] < top + count * 20 && tops[index] < tops[shownRows.indexOf(below)]
      && each.row.nodes.length && each.row.last >= below.row.at && (nodes[each.row.nodes[0]].name || isInclude(each.row.nodes[0]))).slice(-4);
    if (above.length <= count) return above;
  }
  return above;
}

function tintOf(each) {
  const node = each.row.nodes[0];
  if (node === undefined) return "";
  const mark = markAt(node, state.at);
  if (mark === FAULT) return "--err-soft";
  return ticks[state.at] && decisionOf(ticks[state.at]) === node ? { [NO]: "--fail-soft", [RUNNING]: "--run-soft" }[mark] || "--ok-soft" : "";
}

function drawRow(each, index) {
  const { row, fold, left } = each, node = row.nodes.length ? row.nodes[0] : null, mark = node === null ? UNASKED : markAt(node, state.at);
  const decides = node !== null && ticks[state.at] && decisionOf(ticks[state.at]) === node;
  const made = el("div", { class: ["row", row.at === state.row ? "selected" : "", decides ? `decision ${CLASSES[mark]}` : "", mark === FAULT ? "error" : "", mark === UNASKED && node !== null ? "unasked" : ""].join(" "), role: "row", id: index < 0 ? null : `row-${row.at}`, "aria-level": row.level, "aria-selected": String(row.at === state.row), "data-row": row.at });
  if (row.last > row.at && node !== null) made.setAttribute("aria-expanded", String(!fold));
  for (const guide of guidesOf(each)) made.append(guide);
  made.append(el("span", { class: "num" }, String(row.line)), node === null ? "" : svgMark(mark));
  const code = place(el("span", { class: "code", role: "gridcell", title: row.text.slice(0, 400) }), { left, width: Math.max(40, codeWidth() - left) });
  made.append(code);
  const source = el("span", { class: "text cut" });
  code.append(source);
  writeCode(source, each);
  const visit = node === null ? undefined : visits.get(node), label = [`line ${row.line}`, node === null ? row.text : `${nodes[node].kind}, ${WORDS[mark]}`];
  if (node !== null && nodes[node].name && !row.text.includes(nodes[node].name)) code.append(el("span", { class: "tag" }, nodes[node].name));
  if (fold) {
    const count = row.last - row.at + 1, file = isInclude(node) ? nodes[children[node][0]].file : "";
    code.append(el("span", { class: "tag fold" }, [file || `${count} lines`, fold === "not asked" ? "not asked" : ""].filter(Boolean).join(" · ")));
  } else if (node !== null && isInclude(node)) code.append(el("span", { class: "said" }, `▤ ${nodes[children[node][0]].file}`));
  if (visit && visit.text && !each.values) code.append(el("span", { class: "said cut" }, ...strong(visit.text)));
  if (visit && !visit.text && nodes[node].kind === "set") visit.writes.forEach(([key, value]) => code.append(el("span", { class: "said cut" }, `${key} ${shown(valueAt(key, state.at - 1), 24)} → `, el("b", {}, shown(value, 24)))));
  if (each.values) writeValues(made, code, each, label);
  made.setAttribute("aria-label", label.join(", "));
  return made;
}

const strong = (text) => text.split(/(\d[\d,.]*|"[^"]*")/).map((part, index) => (index % 2 ? el("b", {}, part) : part));

function writeCode(code, each) {
  const { row } = each, text = row.text.slice(0, 400), spans = [];
  for (const evaluation of each.fold ? [] : evaluated.get(row.at) || []) {
    if (evaluation.column === null) continue;
    const from = evaluation.column - 1 - row.ind;
    const parts = evaluation.clauses.filter((one) => !evaluation.clauses.some((other) => other !== one && other.start >= one.start && other.end <= one.end && other.end - other.start < one.end - one.start));
    for (const clause of parts) if (clause.asked) spans.push([from + clause.start, from + clause.end, evaluation.error && clause.value === null ? "fault" : isTrue(clause.value) ? "yes" : "no"]);
  }
  spans.sort((one, other) => one[0] - other[0]);
  const head = row.comment ? [text, "note"] : text.match(/^(- )?([\w-]+:?)?/);
  let at = 0;
  const put = (to, kind) => { if (to > at) code.append(kind ? el("span", { class: kind }, text.slice(at, to)) : text.slice(at, to)); at = Math.max(at, to); };
  if (row.comment) return put(text.length, "note");
  put((head[1] || "").length, "dash");
  put(head[0].length, row.nodes.length ? "kind" : "key");
  for (const [from, to, kind] of spans) { put(from, ""); put(Math.min(to, text.length), `clause ${kind}`); }
  const hidden = each.values || (row.nodes.length && (visits.get(row.nodes[0]) || {}).text) || (state.follow && row.nodes.length && isInclude(row.nodes[0])), note = hidden ? -1 : text.indexOf(" # ", at);
  if (note >= 0) { put(note, ""); put(text.length, "note"); } else { const end = hidden && text.indexOf(" # ", at) >= 0 ? text.indexOf(" # ", at) : text.length; put(end, ""); }
}

function writeValues(made, code, each, label) {
  const { values: found, left } = each, kind = { yes: "yes", no: "no", error: "fault" }[found.verdict] || "";
  const verdict = found.verdict ? el("span", { class: `verdict ${kind}` }, `→ ${found.verdict}`) : "";
  const list = found.list.flatMap(([name, value], index) => [`${index ? " · " : ""}${name} `, el("b", {}, value)]);
  label.push(...found.list.map(([name, value]) => `${name} ${value}`));
  if (found.under) {
    for (const value of found.placed) made.append(place(el("span", { class: `val ${value.yes}` }, value.text), { left: left + value.from * charWidth }));
    made.append(place(el("span", { class: "val" }, verdict), { left: left + (found.end + 2) * charWidth }));
  } else if (found.below) {
    const wide = codeWidth() - left - 90, line = el("span", { class: "cut" }, ...list);
    line.style.display = "inline-block"; line.style.verticalAlign = "top"; line.style.maxWidth = `${wide}px`;
    made.append(place(el("span", { class: "under" }, line, " ", verdict), { left: left + 2 * charWidth }));
  } else code.append(list.length ? el("span", { class: "said cut" }, ...list) : "", verdict);
  if (found.error) made.append(place(el("span", { class: "fault-line" }, found.error), { left }));
}

function guidesOf(each) { // the tree's edges: those to the decision in the colour of its status
  const made = [], { row } = each, mark = path.length ? CLASSES[markAt(path[path.length - 1], state.at)] : "";
  for (let index = 1; index < path.length; index++) {
    const from = rowOf[path[index - 1]], to = rowOf[path[index]];
    if (row.at <= from || row.at > to || from === to) continue;
    const x = 66 + rows[from].x - leftEdge, arm = 64 + rows[to].x - leftEdge - x - 2;
    made.push(place(el("i", { class: `edge ${mark} ${row.at === to ? "end" : ""}` }), { left: x }));
    if (row.at === to) made.push(place(el("i", { class: `edge arm ${mark}` }), { left: x, width: Math.max(0, arm) }));
  }
  let owner = row.nodes.length ? nodes[row.nodes[0]].parent : row.owner;
  for (; owner !== null && owner !== undefined; owner = nodes[owner].parent) {
    if (rowOf[owner] === row.at || onPath.has(owner) && made.length && rows[rowOf[owner]].x === undefined) continue;
    made.unshift(place(el("i", { class: "guide" }), { left: 66 + rows[rowOf[owner]].x - leftEdge }));
  }
  return made;
}
