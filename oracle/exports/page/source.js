// The source of the tree as rows: the lines of its files, subtrees folded in where they are included.

// A row: {file, line, text, ind, x, level, nodes, owner, last, comment}; `last`: the last row of its node's lines.
const rows = [],
  rowOf = new Int32Array(nodes.length).fill(-1);
const children = nodes.map(() => []);
nodes.forEach((node) => node.parent !== null && children[node.parent].push(node.index));
const isInclude = (index) => nodes[index].kind === "subtree" && children[index].length > 0;

function addFile(root, x, level) {
  const mine = []; // the nodes of this use of the file
  (function walk(index) {
    mine.push(index);
    if (!isInclude(index)) children[index].forEach(walk);
  })(root);
  const file = nodes[root].file,
    lines = (run.tree.files[file] || "").split("\n");
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
    const ind = indent(text),
      begun = starts.get(number + 1),
      blank = !text.trim(),
      comment = text.trimStart().startsWith("#");
    if (!blank) {
      let depth = open.length;
      while (
        depth &&
        (ind < open[depth - 1][1] || (ind === open[depth - 1][1] && !(text[ind] === "-" && !open[depth - 1][3])))
      )
        depth--;
      close(depth);
    }
    const owner = open.length ? open[open.length - 1][0] : null;
    const row = {
      file,
      line: number + 1,
      text: text.trimStart(),
      ind,
      x: x + (ind - base) * 4,
      level: level + open.length,
      nodes: begun || [],
      owner,
      last: rows.length,
      comment,
      blank,
      at: rows.length,
    };
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
