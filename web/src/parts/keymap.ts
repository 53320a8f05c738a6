/** The whole keyboard map, as the dialog `?` and Settings show it. The pages have the handlers. */
export interface KeyGroup {
  title: string;
  keys: readonly (readonly [keys: readonly string[], does: string])[];
}

export const KEY_GROUPS: readonly KeyGroup[] = [
  {
    title: "Everywhere",
    keys: [
      [["mod+k"], "go to a run, tree or node"],
      [["?"], "all keys"],
      [["/"], "search; where a page has no search, go to"],
      [["Escape"], "stop an answer, or close"],
    ],
  },
  {
    title: "Chat",
    keys: [
      [["n"], "new question"],
      [["Enter"], "send"],
      [["shift+Enter"], "new line"],
    ],
  },
  {
    title: "Run",
    keys: [
      [["ArrowLeft", "ArrowRight"], "tick"],
      [["shift+ArrowLeft", "shift+ArrowRight"], "turn"],
      [["Home", "End"], "first and last tick"],
      [["ArrowUp", "ArrowDown"], "line"],
      [["Enter"], "fold or unfold"],
      [["d"], "to the decision"],
      [["e"], "next error"],
      [["n"], "next tick in which this node was asked; while searching, next match"],
      [["shift+n"], "while searching, match before"],
      [[" "], "play"],
      [["t"], "time axis"],
      [["a"], "all lines"],
      [["g"], "graph"],
      [["1", "2", "3", "4"], "Why, Answer, Blackboard, Messages"],
    ],
  },
  {
    title: "Run of the service",
    keys: [
      [["l"], "live"],
      [["b"], "breakpoint"],
      [["F10"], "step"],
      [["F12"], "source"],
    ],
  },
  {
    title: "Lists",
    keys: [
      [["j", "k"], "move"],
      [["Enter"], "open"],
      [["x"], "select"],
      [["c"], "compare the selected"],
      [["f"], "filter the runs"],
      [["r"], "runs of the tree"],
      [["v"], "versions of the tree"],
    ],
  },
  {
    title: "Compare",
    keys: [
      [["n"], "next difference"],
      [["s"], "swap"],
      [["ArrowLeft", "ArrowRight"], "tick"],
      [["Home", "End"], "first and last tick"],
    ],
  },
  {
    title: "Editor",
    keys: [
      [["mod+s"], "save"],
      [["mod+."], "fix"],
      [["Ctrl+Space"], "complete"],
      [["F12"], "open the subtree"],
      [["Escape", "Tab"], "leave the text: one after the other"],
    ],
  },
];
