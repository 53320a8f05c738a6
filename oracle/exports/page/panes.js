// The panes: why, answer, blackboard, messages.

const TABS = ["Why", "Answer", "Blackboard", "Messages"];

function buildPanes() {
  const wide = window.innerWidth >= 1500;
  if (parts.wide === wide) return;
  parts.wide = wide;
  parts.panes.replaceChildren();
  parts.shown = (wide ? [["Why"], TABS.slice(1)] : [TABS]).map((names) => {
    const tabs = names.map((name) => el("button", { role: "tab", onclick: () => choose(name) }, name));
    const body = el("div", { class: "body", role: "tabpanel", tabindex: "0" });
    parts.panes.append(el("section", { class: "pane" }, el("div", { class: "tabs", role: "tablist" }, ...tabs), body));
    return { names, tabs, body };
  });
}

function choose(name) {
  state.tab = name;
  drawPanes();
}

function drawPanes() {
  const draw = { Why: drawWhy, Answer: drawAnswer, Blackboard: drawBoard, Messages: drawMessages };
  for (const { names, tabs, body } of parts.shown) {
    const name = names.includes(state.tab)
      ? state.tab
      : names.length > 1 && names[0] === "Answer"
        ? "Blackboard"
        : names[0];
    tabs.forEach((tab, index) => tab.setAttribute("aria-selected", String(names[index] === name)));
    const board = tabs[names.indexOf("Blackboard")],
      changed = changedKeys().length;
    if (board) board.replaceChildren("Blackboard", changed ? el("span", { class: "count" }, String(changed)) : "");
    body.setAttribute("aria-label", name);
    body.replaceChildren(...(ticks.length ? draw[name]() : [el("p", { class: "quiet" }, "This run has no ticks.")]));
    if (name === "Answer") body.scrollTop = body.scrollHeight;
  }
}

function drawWhy() {
  // from the root to the decision, in the words that the terminal has too
  const tick = ticks[state.at],
    items = [];
  for (const [index, text] of reasons[state.at]) {
    const decides = index === decisionOf(tick),
      inner = children[index].length && !nodes[index].name && !isInclude(index);
    if (inner && !decides && markAt(index, state.at) !== FAULT) continue; // a node without a name says little
    const name = title(index),
      said = text && text !== OMITTED ? text : `${WORDS[markAt(index, state.at)]}.`;
    items.push(
      whyItem(index, said.startsWith(name) || said.startsWith(`The tree ${name}`) ? said : `${name}: ${said}`),
    );
  }
  tick.errors.forEach(([where, text]) => {
    const node = nodes.find((each) => each.path === where);
    if (node && !(visits.get(node.index) || { text: "" }).text.includes(text))
      items.push(whyItem(node.index, `${title(node.index)}: ${text}`));
  });
  if (items.length) return [el("ul", { class: "why" }, ...items)];
  return [
    el(
      "p",
      { class: "quiet" },
      `The reasons of this tick are not known${run.problem && run.problem !== OMITTED ? `: ${run.problem}` : ""}.`,
    ),
  ];
}

function whyItem(index, text) {
  const name = title(index),
    at = text.indexOf(name);
  const words = at < 0 ? [text] : [text.slice(0, at), el("b", {}, name), text.slice(at + name.length)];
  return el(
    "li",
    {},
    svgMark(markAt(index, state.at)),
    el("span", {}, ...words),
    el("span", { class: "place cut", title: `${nodes[index].file}:${nodes[index].line}` }, placeOf(index)),
  );
}

// What an operator did with the debugger, before the tick.
function operated(done) {
  const by = done.by && done.by !== OMITTED ? ` by ${done.by}` : "";
  if (done.what === "set") return `${done.key} set to ${JSON.stringify(done.value)}${by}`;
  if (done.what === "forced") return `${done.path} forced to ${done.result}${by}`;
  if (done.what === "resumed") return `resumed after ${(done.paused_s ?? 0).toFixed(1)} s${by}`;
  if (done.what === "paused" && done.why) return `paused by a breakpoint${done.path ? ` at ${done.path}` : ""}`;
  return (done.what === "pausing" ? "a pause was asked for" : done.what) + by;
}

function drawAnswer() {
  const tick = ticks[state.at].tick,
    found = [];
  run.texts.forEach((each, order) => each.tick <= tick && found.push([each.tick, each.at_s, order, textPiece(each)]));
  run.calls.forEach(
    (call, order) =>
      call.began_tick <= tick && found.push([call.began_tick, call.began_s, order, callPiece(call, tick)]),
  );
  run.debug.forEach(
    (done, order) =>
      done.tick <= tick &&
      found.push([
        done.tick,
        done.at_s,
        order,
        el("div", { class: "system", role: "status" }, el("b", {}, "Operator"), operated(done)),
      ]),
  );
  run.notices.forEach(
    (notice, order) =>
      notice.tick <= tick &&
      found.push([
        notice.tick,
        notice.at_s,
        order,
        el("div", { class: "system", role: "status" }, el("b", {}, "System"), notice.text),
      ]),
  );
  found.sort((one, other) => one[0] - other[0] || one[1] - other[1] || one[2] - other[2]);
  return [
    el("div", { class: "asks" }, run.run.question || "(no question)"),
    ...found.map((each) => each[3]),
    found.length ? "" : el("p", { class: "quiet" }, "Nothing was shown by then."),
  ];
}

function textPiece(each) {
  if (each.type === "thinking")
    return el(
      "details",
      { class: "box" },
      el("summary", { class: "cut" }, "Thought  ", each.text.slice(0, 80)),
      el("pre", {}, each.text),
    );
  if (each.type === "source") return el("div", { class: "chips" }, el("span", {}, each.text));
  return el("div", { class: each.type === "error" ? "says strip" : "says" }, each.text.trim());
}

function callPiece(call, tick) {
  const done = call.ended_tick !== null && call.ended_tick <= tick,
    given =
      call.arguments === null
        ? ""
        : typeof call.arguments === "string"
          ? call.arguments
          : JSON.stringify(call.arguments);
  const code = !done ? RUNNING : call.is_error ? FAULT : YES,
    took = call.ended_s === null ? "" : seconds(call.ended_s - call.began_s);
  return el(
    "details",
    { class: "box" },
    el(
      "summary",
      { class: "cut" },
      el("span", { class: "took" }, done ? took : "running"),
      svgMark(code),
      el("b", {}, call.name),
      ` ${given.slice(0, 120)}`,
    ),
    el("pre", {}, given),
    el("pre", {}, !done ? "" : call.result === null ? "(the result is not there)" : call.result),
  );
}

function changedKeys() {
  const tick = ticks[state.at];
  if (!tick) return [];
  return [...new Set(tick.writes.map(([key]) => key))].filter(
    (key) => JSON.stringify(valueAt(key, state.at)) !== JSON.stringify(valueAt(key, state.at - 1)),
  );
}

function drawBoard() {
  const changed = changedKeys(),
    others = [...values.keys()].filter((key) => !changed.includes(key)).sort();
  const full = others.filter((key) => {
    const value = valueAt(key, state.at);
    return value !== null && value !== "" && value !== undefined && !(Array.isArray(value) && !value.length);
  });
  const described = new Map(run.keys.map((key) => [key.name, `${key.type}. ${key.description}`]));
  const row = (key, ...cells) =>
    el("tr", { title: described.get(key) }, el("th", { scope: "row" }, key), el("td", {}, ...cells));
  const old = (key) => [
    el("span", { class: "old" }, shown(valueAt(key, state.at - 1), 400)),
    " → ",
    el("b", {}, shown(valueAt(key, state.at), 2000)),
  ];
  return [
    el("h2", {}, changed.length ? "Changed in this tick" : "Nothing changed in this tick"),
    changed.length ? el("table", { class: "board changed" }, ...changed.map((key) => row(key, ...old(key)))) : "",
    el("h2", {}, "As before"),
    el("table", { class: "board" }, ...full.map((key) => row(key, shown(valueAt(key, state.at), 2000)))),
    el("p", { class: "quiet" }, `${plural(others.length - full.length, "key")} without a value`),
  ];
}

function drawMessages() {
  const tick = ticks[state.at].tick,
    turn = [...run.turns].reverse().find((each) => each.began_tick <= tick);
  if (!turn) return [el("p", { class: "quiet" }, "The model was not asked by then.")];
  const asked = turn.request,
    made = [el("h2", {}, `Request of turn ${turn.n} · ${plural(turn.input_tokens, "token")} in`)];
  const message = (name, text, fresh) =>
    el(
      "div",
      { class: `message ${fresh ? "new" : ""}` },
      el("b", {}, name),
      el("span", { class: "quiet" }, `${fresh ? " new in this turn" : ""} · ${plural(text.length, "character")}`),
      el("pre", {}, text),
    );
  if (!asked) made.push(el("p", { class: "quiet" }, "The request was not recorded."));
  else {
    if (asked.segments.length || asked.prompt)
      made.push(
        el(
          "details",
          { class: "box" },
          el("summary", {}, el("b", {}, "system"), ` ${plural(asked.segments.length, "segment")}`),
          el("pre", {}, asked.prompt === null ? "(the text is not there)" : asked.prompt),
          el("div", { class: "chips" }, ...asked.segments.map((name) => el("span", {}, name))),
        ),
      );
    if (asked.tools.length)
      made.push(
        el(
          "div",
          {},
          el("b", {}, "tools"),
          ` ${asked.tools.length} offered`,
          el("div", { class: "chips" }, ...asked.tools.map((name) => el("span", {}, name))),
        ),
      );
    for (const note of asked.notes) made.push(message("control note", note, true));
    for (const each of asked.messages)
      made.push(
        message(
          String(each && each.role ? each.role : "message"),
          written(each && each.content !== undefined ? each.content : each),
          true,
        ),
      );
  }
  const ended = turn.ended_tick !== null && turn.ended_tick <= tick;
  if (ended)
    made.push(
      turn.answer === null
        ? el("p", { class: "quiet" }, "The answer's text is not there.")
        : message("assistant", turn.answer, true),
    );
  if (ended && turn.signal)
    made.push(
      el(
        "p",
        {},
        "Signal ",
        el("code", {}, turn.signal.type),
        turn.signal.confidence === null ? "" : `, ${turn.signal.confidence} sure`,
      ),
    );
  if (turn.error) made.push(el("p", { class: "strip" }, turn.error));
  return made;
}

function written(content) {
  // the content of a message, as the provider gets it
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return JSON.stringify(content, null, 1);
  return content
    .map((part) =>
      part && typeof part.text === "string"
        ? part.text
        : part && part.type === "tool_use"
          ? `${part.name}(${JSON.stringify(part.input)})`
          : part && typeof part.content === "string"
            ? part.content
            : JSON.stringify(part, null, 1),
    )
    .join("\n");
}
