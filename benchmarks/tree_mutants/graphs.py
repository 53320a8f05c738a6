"""The control of a tree as the graph that agentproofx verifies, and what it says about one.

A leaf is a node of the graph, and an edge is what can be ticked next: after a success, after a failure, and at the
begin of a round. `stop` leads to the end of its loop. That is more than the extractors of agentproofx find in a
graph of LangGraph, where a node's function decides the way.

What the graph cannot have is what the paths depend on: values on the blackboard, conditions, numbers, texts, whether a
guard interrupts something that runs, parallel work, time. So the same edges come of a condition and of its negation.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import Any, Final

from bt_runtime import NodeDefinition, TreeDefinition
from oracle.features.scenarios.coverage import possible_results

LOST: Final = "conditions, numbers, texts, keys and arguments; interrupts, parallel work and time"
"""What the graph cannot express."""
PROPERTIES: Final = (
    # a turn comes after the question's type, the prompt, and all guards
    *(f"not:llm_turn U action:{kind}" for kind in ("classify_query", "compose_prompt")),
    *(
        f"not:llm_turn U action:{kind}"
        for kind in ("cancelled", "turn_budget", "token_budget", "deadline", "no_progress", "error_limit")
    ),
    # and between two turns stand all guards, and something that allows the next one
    *(
        f"action:llm_turn -> F action:{kind}"
        for kind in ("cancelled", "turn_budget", "token_budget", "deadline", "no_progress", "error_limit")
    ),
    "action:llm_turn -> F action:warn_near_limits",
    "action:llm_turn -> F allows_a_turn",
    # guards in their order
    "action:cancelled -> F[<=1] in_guards",
    "not:token_budget U action:turn_budget",
    "not:deadline U action:token_budget",
    # tools run after a turn, within the limits
    "not:run_tools U action:llm_turn",
    "action:run_tools -> F action:llm_turn",
    # nothing happens between a reason and the end, which explains and saves
    "action:stop:completed -> F[<=1] action:explain_stop",
    "action:stop:stuck -> F[<=1] action:explain_stop",
    "action:notify:stuck -> F[<=1] action:stop:stuck",
    "action:notify:capability_gap -> F[<=2] action:stop:completed",
    "action:notify:delegation_recommended -> F[<=1] action:stop:completed",
    "action:explain_stop -> F[<=1] action:finish",
    "not:finish U action:explain_stop",
    "not:exit U action:finish",
    # the fallback reads the text before it decides
    "not:notify:fallback U action:classify_response",
)
"""What is asked of the graph, in the language of agentproofx: the properties of the shipped tree as far as they are
properties of paths. Here `a U b` is "no b before a", and `a -> F b` is broken by a second `a` before `b`."""
_GUARDS: Final = frozenset({"cancelled", "turn_budget", "token_budget", "deadline", "no_progress", "error_limit"})
_ALLOWS: Final = frozenset({"grant_turn", "run_tools", "refuse_tools"})
_ENTRY, _EXIT = "entry", "exit"


def is_installed() -> bool:
    """Whether agentproofx can be asked."""
    return find_spec("agentproof") is not None


@dataclass
class Graph:
    """A tree as nodes and edges.

    Args:
        kinds: of the nodes, as agentproofx names them.
        labels: what a node does, for its properties.
        edges: from, to.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    edges: dict[tuple[str, str], None] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The graph as `agentproof.graph_from_dict` takes it."""
        nodes = [
            {"id": name, "kind": kind, "tools": ["the tools that the model called"] if kind == "tool" else []}
            for name, kind in self.kinds.items()
        ]
        edges = [
            {"source": source, "target": target, "kind": "conditional" if self.kinds[source] == "router" else "direct"}
            for source, target in self.edges
        ]
        ends = {"entry_id": _ENTRY, "exit_ids": [_EXIT]}
        return {"name": "oracle", "framework": "behavior tree", **ends, "nodes": nodes, "edges": edges}


class _Exporter:
    """Makes the graph of one tree, from the last node to the first."""

    def __init__(self, tree: TreeDefinition) -> None:
        self.graph = Graph({_ENTRY: "entry", _EXIT: "exit"}, {_ENTRY: _ENTRY, _EXIT: _EXIT})
        self._results = {node.path: results for node, results in possible_results(tree)}
        self.graph.edges[_ENTRY, self._node(tree.root, _EXIT, _EXIT, None)] = None

    def _node(self, node: NodeDefinition, ok: str, no: str, stopped: str | None) -> str:
        """Add a node.

        Args:
            node: with all below it.
            ok: what follows its success.
            no: what follows its failure.
            stopped: what follows a reason to stop; `None` if nothing looks at the reason.

        Returns:
            Where it begins.
        """
        children = [child for slot, nodes in node.children.items() if slot != "guards" for child in nodes]
        if not children:
            return self._leaf(node, ok, no, stopped)
        match node.kind:
            case "loop":
                return self._loop(node, children[0], ok, no)
            case "finally":
                child, then = (node.children[slot][0] for slot in ("child", "then"))
                end = self._node(then, ok, ok, None)
                return self._node(child, end, end, stopped)
            case "selector":
                for child in reversed(children):
                    no = self._node(child, ok, no, stopped)
                return no
            case "force_success":
                return self._node(children[0], ok, ok, stopped)
            case "force_failure":
                return self._node(children[0], no, no, stopped)
            case "inverter":
                return self._node(children[0], no, ok, stopped)
        for child in reversed(children):
            ok = self._node(child, ok, no, stopped)
        return ok

    def _loop(self, node: NodeDefinition, child: NodeDefinition, ok: str, no: str) -> str:
        """Guards, then the child, then the guards again; `until` ends it, which a `stop` inside leads to."""
        has_until = getattr(node.settings, "until", None) is not None
        again = f"{node.path}/again"
        self._add(again, "router" if has_until else "passthrough", "again", [ok] if has_until else [])
        begin = self._node(child, again, no, ok if has_until else None)
        for guard in reversed(node.children.get("guards", ())):
            begin = self._node(guard, begin, ok, None)
        self.graph.edges[again, begin] = None
        return begin

    def _leaf(self, node: NodeDefinition, ok: str, no: str, stopped: str | None) -> str:
        results = self._results[node.path]
        after = [ok] if "SUCCESS" in results else []
        after += [no] if "FAILURE" in results else []
        if node.kind == "stop" and stopped is not None:
            after = [stopped]
        detail = getattr(node.settings, "topic", None) or getattr(node.settings, "reason", None)
        label = f"{node.kind}:{detail}" if node.kind in ("stop", "notify") and detail else node.kind
        other = "router" if len(set(after)) > 1 else "passthrough"
        self._add(
            node.path, {"llm_turn": "llm", "run_tools": "tool", "action": "tool"}.get(node.kind, other), label, after
        )
        return node.path

    def _add(self, name: str, kind: str, label: str, after: list[str]) -> None:
        self.graph.kinds[name] = kind
        self.graph.labels[name] = label
        for other in after:
            self.graph.edges[name, other] = None


def graph_of(tree: TreeDefinition) -> Graph:
    """The graph of a tree."""
    return _Exporter(tree).graph


def objections(tree: TreeDefinition) -> Iterator[str]:
    """What agentproofx says about a tree: its structural checks, and those of `PROPERTIES` that it refutes."""
    from agentproof import graph_from_dict
    from agentproof.verify import check_temporal_property, run_structural_checks

    graph = graph_of(tree)
    every = {label for rule in PROPERTIES for word in rule.split() if word.startswith("not:") for label in [word[4:]]}

    def event(name: str, _graph: object) -> dict[str, Any]:
        label = graph.labels[name]
        tags = [f"not:{other}" for other in every if other != label]
        tags += ["allows_a_turn"] if label in _ALLOWS else []
        tags += ["in_guards"] if label in _GUARDS else []
        return {"node_id": name, "action_type": label, "tags": tags}

    exported = graph_from_dict(graph.to_json())
    for check in run_structural_checks(exported, require_human=False)["checks"]:
        if not check["passed"]:
            yield check["check_id"]
    for rule in _compiled():
        if check_temporal_property(exported, rule, event_mapper=event)["violated"]:
            yield rule.dsl


@cache
def _compiled() -> tuple[Any, ...]:
    """The properties as agentproofx takes them."""
    from agentproof.monitor.ltl import MonitorRuleSpec, compile_monitor_rule

    specs = (MonitorRuleSpec(rule_id=str(number), dsl=dsl) for number, dsl in enumerate(PROPERTIES))
    return tuple(compile_monitor_rule(spec) for spec in specs)
