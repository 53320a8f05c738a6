// What is shown at a tick: the way to the decision, which rows are folded, and where values stand.

const state = {
  at: 0,
  row: -1,
  follow: true,
  time: false,
  tab: "Why",
  open: new Map(),
  keys: true,
  finding: "",
  playing: 0,
};
const position = ticks.findIndex((tick) => tick.tick === firstTick);
state.at = position < 0 ? Math.max(0, ticks.length - 1) : position;
let path = [],
  onPath = new Set(),
  visits = new Map(),
  evaluated = new Map(),
  shownRows = [],
  tops = [],
  height = 0,
  leftEdge = 0;

const title = (index) => {
  const node = nodes[index];
  return node.name || (isInclude(index) ? nodes[children[index][0]].file.replace(/\.yaml$/, "") : node.kind);
};
const placeOf = (index) => `${nodes[index].file.replace(/\.yaml$/, "")}:${nodes[index].line}`;

function readTick() {
  const tick = ticks[state.at];
  visits = new Map();
  evaluated = new Map();
  path = [];
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

const decisionOf = (tick) =>
  run.end && run.end.tick === tick.tick && run.end.node !== null ? run.end.node : tick.decision;

function foldState(row) {
  // of a row with a node: open, or why it is closed
  const node = row.nodes[0],
    mark = markAt(node, state.at);
  if (row.last === row.at) return "";
  const chosen = state.open.get(row.at);
  if (chosen !== undefined) return chosen ? "" : "folded";
  if (!state.follow || (onPath.has(node) && children[node].length)) return "";
  if (mark === UNASKED) return "not asked";
  if (!children[node].length) return evaluated.size && hasEvaluations(row) ? "" : "folded";
  return isInclude(node) && mark === NO && !hasFault(row) ? "folded" : "";
}
const hasFault = (row) =>
  rows.slice(row.at, row.last + 1).some((each) => each.nodes.some((node) => markAt(node, state.at) === FAULT));
const hasEvaluations = (row) => {
  for (let at = row.at + 1; at <= row.last; at++) if (evaluated.has(at)) return true;
  return false;
};

function chooseRows() {
  shownRows = [];
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at];
    if (row.nodes.length) {
      const fold = foldState(row);
      shownRows.push({ row, fold });
      if (fold) at = row.last;
    } else if (
      !state.follow ||
      (row.owner !== null &&
        !row.blank &&
        !/^(children|name):/.test(row.text) &&
        !(row.comment && rows[at - 1].comment))
    )
      shownRows.push({ row, fold: "" });
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
  if (fold && isInclude(row.nodes[0])) {
    // why a folded subtree says no: its first condition that did
    for (let at = row.at + 1; at <= row.last && !found.length; at++)
      found = (evaluated.get(at) || []).filter((each) => !isTrue(each.value));
    found = found.slice(0, 1).map((each) => ({ ...each, column: null }));
  }
  if (!found.length || (nodes[found[0].node].kind === "set" && !found.some((each) => each.error))) return null;
  const wide = (codeWidth() - left) / charWidth;
  const placed = [],
    list = [];
  let end = -1,
    fits = found.every((each) => each.column !== null && !fold && each.column - 1 - row.ind >= 0);
  for (const each of found) {
    const operands = each.operands.flatMap((operand) =>
      (operand.at.length ? operand.at : [0]).map((at) => ({ ...operand, from: each.column - 1 - row.ind + at })),
    );
    operands
      .sort((one, other) => one.from - other.from)
      .forEach((operand) => {
        const text = shown(operand.value, 24),
          clause = each.clauses.find(
            (c) =>
              operand.from - each.column + 1 + row.ind >= c.start &&
              operand.from - each.column + 1 + row.ind < c.end &&
              c.asked,
          );
        if (operand.from <= end) fits = false;
        placed.push({
          from: operand.from,
          text,
          yes: clause ? (each.error ? "fault" : isTrue(clause.value) ? "yes" : "no") : "",
        });
        end = operand.from + text.length;
      });
    for (const operand of each.operands) list.push([operand.name, shown(operand.value, 40)]);
  }
  const first = found[0],
    judged = first.setting === "when" || /until|while|if/.test(first.setting) || typeof first.value === "boolean";
  const verdict = found.some((each) => each.error)
    ? "error"
    : judged
      ? found.every((each) => isTrue(each.value))
        ? "yes"
        : "no"
      : first.operands.length
        ? `${shown(first.value, 24)}`
        : "";
  if (end + 10 > wide) fits = false;
  const matters = onPath.has(first.node) || verdict === "error" || (verdict === "yes" && first.clauses.length > 1);
  const text = row.text.length > 400 ? 400 : row.text.length;
  const room = wide - text - 4,
    length = list.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 8);
  const below =
    (matters && list.length > 0) || (length > room && list.length > 0 && verdict !== "" && onPath.has(first.node));
  return {
    placed,
    list,
    verdict,
    below,
    under: below && fits,
    error: found.map((each) => each.error).find(Boolean) || "",
    end,
  };
}
