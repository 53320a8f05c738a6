"""Histories that no service has recorded: large ones, and hostile ones."""

import json
from typing import Any

from oracle.replay.histories.codec import history_to_json
from oracle.replay.histories.foreign import history_from_json
from oracle.replay.histories.model import (
    ClauseFacts,
    EvaluationFacts,
    History,
    NodeFacts,
    OperandFacts,
    RunFacts,
    TickFacts,
    TreeFacts,
    TurnFacts,
    VisitFacts,
)


def large(*, nodes: int, ticks: int) -> History:
    """A selector over conditions; each tick asks some of them, and each tenth begins a turn."""
    lines = ["tree: large", "root:", "  selector:"]
    lines += [f"    - condition: turn > {index} and tokens_used < 50000" for index in range(1, nodes)]
    rows = [NodeFacts(0, "selector", "selector", "composite", None, None, "", "selector", "large.yaml", 3, 3)]
    rows += [
        NodeFacts(index, f"selector/c{index}", "condition", "condition", None, 0, "", "c", "large.yaml", 3 + index, 7)
        for index in range(1, nodes)
    ]
    made = []
    for tick in range(1, ticks + 1):
        last = 1 + tick * 7 % (nodes - 1)
        visited = (0, *range(max(1, last - 10), last + 1))
        visits = tuple(_visit(index, tick, is_yes=index == last) for index in visited[1:])
        made.append(
            TickFacts(
                tick,
                tick * 0.05,
                0.2,
                1 + tick // 10,
                "outcome",
                (),
                (),
                visited,
                tuple((index, "SUCCESS" if index in (0, last) else "FAILURE") for index in visited),
                (("turn", tick),),
                (),
                last,
                f"Tick {tick} is decided.",
                (VisitFacts(0, "SUCCESS", None, last), *visits),
            )
        )
    turns = [TurnFacts(n, 1, n * 10 - 9, n * 10, n * 0.5 - 0.45, n * 0.5, tokens=100) for n in range(1, ticks // 10)]
    run = RunFacts(
        "large0", "local", "c", "A large run?", "finished", 0.0, 100.0, "large", "0" * 64, "m", 9, 9, False,
        "completed", None, {"max_iterations": 10},
    )  # fmt: skip
    tree = TreeFacts("large", "0" * 64, "large.yaml", {"large.yaml": "\n".join(lines)}, tuple(rows))
    return History(run, tree, [], made, turns)


def _visit(index: int, tick: int, *, is_yes: bool) -> VisitFacts:
    text = f"turn > {index} and tokens_used < 50000"
    clauses = (ClauseFacts(0, len(text) - 24, True, is_yes), ClauseFacts(len(text) - 19, len(text), is_yes, is_yes))
    operands = (OperandFacts("turn", tick, (0,)), OperandFacts("tokens_used", tick * 10, (len(text) - 19,)))
    evaluation = EvaluationFacts(text, "when", 3 + index, 18, is_yes, "", clauses, operands)
    return VisitFacts(index, "SUCCESS" if is_yes else "FAILURE", 0, None, evaluations=(evaluation,))


HOSTILE = (
    (
        "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked=2'><!--<script>\u2028\u2029"
        "\"'`${window.hacked=3}&lt;b&gt;%DATA% %SCRIPT% javascript:window.hacked=4 \u202e\ud83d\ude00"
    )
    .encode("utf-16", "surrogatepass")
    .decode("utf-16")
)
"""Ends a script element, begins another, loads a picture, breaks a line, and names the places of the page itself."""


def hostile(history: History) -> History:
    """The history with `HOSTILE` in every text that is not a name the format itself gives."""
    data = json.loads(history_to_json(history))
    data["problem"] = ""
    run, tree = data["run"], data["tree"]
    run |= {"question": HOSTILE, "model": HOSTILE, "user_id": HOSTILE, "context_id": HOSTILE, "tree": HOSTILE}
    run["termination_reason"] = run["error"] = HOSTILE
    for node in tree["nodes"]:
        node |= {"name": node["name"] and HOSTILE + node["name"], "kind": node["kind"], "label": HOSTILE}
        node["path"] += HOSTILE
        node["file"] += HOSTILE
    tree |= {"name": HOSTILE, "file": tree["file"] + HOSTILE}
    tree["files"] = {
        name + HOSTILE: "\n".join(f"{line} # {HOSTILE}" for line in text.split("\n"))
        for name, text in tree["files"].items()
    }
    for part in ("keys", "ticks", "turns", "calls", "notices", "texts"):
        data[part] = [_poisoned(each) for each in data[part]]
    data["calls"] = [each | {"arguments": {HOSTILE: HOSTILE}} for each in data["calls"]]
    for tick in data["ticks"]:
        tick["errors"] = [[tree["nodes"][tick["visited"][-1]]["path"], HOSTILE]]
        tick["headline"] = HOSTILE
        tick["writes"] = [[f"{key}{HOSTILE}", HOSTILE] for key, _ in tick["writes"]]
        for visit in tick["visits"]:
            visit["text"] = visit["sentence"] = HOSTILE
            for each in visit["evaluations"]:  # a clause is a part of the text, which is another one now
                each["clauses"] = [clause for clause in each["clauses"] if clause["end"] <= len(each["text"])]
    data["end"]["sentence"] = HOSTILE
    return history_from_json(json.dumps(data))


_NAMES = frozenset(
    {"status", "cause", "type", "id", "severity", "setting", "caller", "kind", "tone", "marks", "cache_miss"}
)


def _poisoned(data: Any, *, below: str = "") -> Any:
    if isinstance(data, dict):
        return {key: _poisoned(value, below=key) for key, value in data.items()}
    if isinstance(data, list) and below not in ("changes", "writes", "deliveries", "errors"):
        return [_poisoned(each, below=below) for each in data]
    return HOSTILE if isinstance(data, str) and below not in _NAMES else data
