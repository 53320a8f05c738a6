import time
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import field_validator

from bt_runtime import Node, NodeSettings, Status, node
from bt_runtime.language.errors import TreeFileError
from bt_runtime.library.named import read_tree
from bt_runtime.testing import registry_of
from tests.bt_runtime.sample_kinds import KINDS, ORACLE, REGISTRY


def read(text):
    return read_tree(text, file="t.yaml", registry=REGISTRY)


def root(yaml, head=""):
    """The root of a file whose root is this text, from line 4 on, indented by two."""
    body = "\n".join(f"  {line}" for line in yaml.splitlines())
    return read(f"tree: t\n{head or 'description: d'}\nroot:\n{body}\n").root


def mistakes(text):
    with pytest.raises(TreeFileError) as caught:
        read(text)
    return caught.value.mistakes


def reported(yaml, head=""):
    """`line:column: message` of the mistakes of a root, where line and column count within it."""
    with pytest.raises(TreeFileError) as caught:
        root(yaml, head)
    return [f"{m.place.line - 3}:{m.place.column - 2}: {m.message}" for m in caught.value.mistakes]


def hint(yaml, head=""):
    with pytest.raises(TreeFileError) as caught:
        root(yaml, head)
    return caught.value.mistakes[0].hint


def test_a_whole_tree_is_read():
    tree = read(ORACLE)

    assert (tree.name, tree.description) == ("oracle", "Answer one query under the user's limits.")
    assert [node.path for node in tree.nodes()] == [
        "sequence",
        "sequence/set",
        "sequence/loop",
        "sequence/loop/turn_budget",
        "sequence/loop/condition",
        "sequence/loop/sequence",
        "sequence/loop/sequence/llm_turn",
        "sequence/loop/sequence/selector",
        "sequence/loop/sequence/selector/sequence",
        "sequence/loop/sequence/selector/sequence/has_tool_calls",
        "sequence/loop/sequence/selector/sequence/set",
        "sequence/loop/sequence/selector/inverter",
        "sequence/loop/sequence/selector/inverter/condition",
        "sequence/loop/sequence/selector/again",
        "sequence/loop/sequence/selector/again/notify",
        "sequence/finally",
        "sequence/finally/finish",
        "sequence/finally/notify",
    ]
    turn = tree.nodes()[6]
    assert (turn.kind, turn.settings.timeout_s, turn.settings.tools) == ("llm_turn", 120.0, ("search_code",))
    assert str(turn.place) == "t.yaml:16:15"
    assert tree.source == ORACLE
    assert len(tree.sha) == 64


def test_the_blackboard_has_the_keys_of_host_and_tree():
    keys = read(ORACLE).keys

    assert (keys["max_turns"].default, keys["max_turns"].read_only) == (20, True)
    assert keys["max_turns"].description == "The tree's own limit."
    assert (keys["tries"].type, keys["tries"].description) == ("int", "How often.")
    assert (keys["note"].type, keys["note"].default) == ("str", None)
    assert "turn" in keys


@pytest.mark.parametrize(
    ("yaml", "kinds"),
    [
        pytest.param("finish", ["finish"], id="bare kind"),
        pytest.param("finish:", ["finish"], id="kind without settings"),
        pytest.param("finish: {}", ["finish"], id="kind with empty settings"),
        pytest.param("condition: turn > 1", ["condition"], id="shorthand setting"),
        pytest.param("condition: {when: turn > 1}", ["condition"], id="setting by name"),
        pytest.param("sequence: [finish, finish]", ["sequence", "finish", "finish"], id="shorthand children"),
        pytest.param("sequence: {children: [finish]}", ["sequence", "finish"], id="children by name"),
        pytest.param("inverter: has_tool_calls", ["inverter", "has_tool_calls"], id="bare child"),
        pytest.param("inverter: {condition: turn > 1}", ["inverter", "condition"], id="child given directly"),
        pytest.param("inverter: {child: {condition: turn > 1}}", ["inverter", "condition"], id="child by name"),
        pytest.param("inverter: {child: finish, name: x}", ["inverter", "finish"], id="child and name"),
        pytest.param("inverter:\n  inverter:\n    finish:", ["inverter", "inverter", "finish"], id="nested children"),
        pytest.param("loop: finish", None, id="two slots and no shorthand"),
        pytest.param("loop: {finish: }", ["loop", "finish"], id="the only single slot"),
        pytest.param("loop: {child: finish, guards: }", ["loop", "finish"], id="optional list left empty"),
        pytest.param("set: {hint: turn + 1}", ["set"], id="shorthand mapping"),
        pytest.param("set: {values: {hint: 1}}", ["set"], id="mapping by name"),
        pytest.param("set: {values: {hint: 1}, name: x}", ["set"], id="mapping and name"),
        pytest.param("notify: 'on'", ["notify"], id="text in quotes"),
        pytest.param("notify: on", ["notify"], id="a YAML 1.1 boolean is text"),
        pytest.param("finally: {then: finish, child: {notify: x}}", ["finally", "finish", "notify"], id="file's order"),
    ],
)
def test_a_node_can_be_written_in_these_ways(yaml, kinds):
    if kinds is None:
        assert reported(yaml) == ["1:1: 'loop' needs a child", "1:7: 'loop' takes no bare value such as 'finish'"]
    else:
        assert [node.kind for node in root(yaml).walk()] == kinds


def test_an_alias_repeats_a_node():
    tree = root("sequence:\n  - condition: &when turn > 1\n  - inverter: &x {condition: *when}\n  - force_success: *x")

    assert [node.kind for node in tree.walk()] == [
        "sequence", "condition", "inverter", "condition", "force_success", "condition"
    ]  # fmt: skip


def test_labels_are_names_or_numbered_kinds():
    tree = root(
        "sequence:\n  - finish\n  - {finish: {name: last}}\n  - finish\n  - {condition: {name: 'ok? ü', when: 1 < 2}}"
    )

    assert [node.path for node in tree.walk()][1:] == [
        "sequence/finish", "sequence/last", "sequence/finish#2", "sequence/ok? ü"
    ]  # fmt: skip
    assert tree.children["children"][1].name == "last"


@pytest.mark.parametrize(
    ("yaml", "message"),
    [
        ("llm_turn: {timeout: 3}", "1:12: 'llm_turn' has no setting 'timeout'"),
        ("llm_turn: {timeout_s: -1}", "1:23: 'timeout_s' must be greater than 0, not -1"),
        ("llm_turn: {timeout_s: soon}", "1:23: 'timeout_s' must be a number, not 'soon'"),
        ("llm_turn: {stream: on}", "1:20: 'stream' must be true or false, not 'on'"),
        ("llm_turn: {stream: 1}", "1:20: 'stream' must be true or false, not 1"),
        ("llm_turn: {model: 3}", "1:19: 'model' must be text, not 3"),
        ("llm_turn: {tools: x}", "1:19: 'tools' must be a list, not 'x'"),
        ("llm_turn: {tools: [a, 1]}", "1:23: 'tools[1]' must be text, not 1"),
        ("llm_turn: {effort: hgh}", "1:20: 'effort' must be 'low', 'medium' or 'high', not 'hgh'"),
        ("llm_turn: {header: x}", "1:20: 'header' must be a mapping, not 'x'"),
        ("llm_turn: {header: {}}", "1:20: 'header' needs 'title'"),
        ("llm_turn: {header: {title: abc, lvl: 1}}", "1:33: 'header' has no 'lvl'"),
        ("llm_turn: {header: {title: a}}", "1:28: 'header.title' must be text of at least 2 characters, not 'a'"),
        ("llm_turn: {header: {title: ABC}}", "1:28: 'header.title' must be text that matches ^[a-z]+$, not 'ABC'"),
        ("llm_turn: {header: {title: abc, level: 9}}", "1:40: 'header.level' must be less than 7, not 9"),
        ("llm_turn: {tools: [a], stream: false}", "1:1: 'llm_turn': tools need stream"),
        ("retry: {child: finish}", "1:1: 'retry' needs 'attempts'"),
        ("retry: {attempts: three, child: finish}", "1:19: 'attempts' must be a whole number, not 'three'"),
        ("retry: {attempts: 2.0, child: finish}", "1:19: 'attempts' must be a whole number, not 2.0"),
        ("retry: {attempts: true, child: finish}", "1:19: 'attempts' must be a whole number, not true"),
        ("retry: {attempts: , child: finish}", "1:19: 'attempts' must be a whole number, not null"),
        ("retry: {attempts: 0, child: finish}", "1:19: 'attempts' must be at least 1, not 0"),
        ("retry: {attempts: 101, child: finish}", "1:19: 'attempts' must be at most 100, not 101"),
        ("retry: {attempts: 3}", "1:1: 'retry' needs a child"),
        ("parallel: {success: some, children: [finish]}",
         "1:21: 'success' must be 'all' or 'one' or a whole number, not 'some'"),
        ("set: {hint: [1]}",
         "1:13: 'values.hint' must be text or a whole number or a number or true or false, not [1]"),
        ("set: {values: {}}", "1:15: 'values' must be something with at least 1 item, not {}"),
        ("condition:", "1:1: 'condition' needs 'when'"),
        ("condition: true", "1:12: 'when' must be text, not true"),
        ("condition: [turn]", "1:12: 'when' must be text, not ['turn']"),
        ("finish: 3", "1:9: 'finish' takes no bare value such as 3"),
        ("finish: [a]", "1:9: 'finish' takes no bare value such as a list"),
        ("finish: {x: 1}", "1:10: 'finish' has no setting 'x'"),
        ("finish: {child: notify}", "1:10: 'finish' has no children"),
        ("finnish", "1:1: there is no node kind 'finnish'"),
        ("xyzzy: {a: 1}", "1:1: there is no node kind 'xyzzy'"),
        ("on: 1", "1:1: there is no node kind 'on'"),
        ("[finish]", "1:1: a node cannot be a list"),
        ("3", "1:1: a node cannot be 3"),
        ("{}", "1:1: a node is missing here"),
        ("sequence:\n  -", "2:4: a node is missing here"),
        ("sequence: []", "1:11: 'sequence' needs at least one child"),
        ("sequence:", "1:1: 'sequence' needs children"),
        ("sequence: finish", "1:11: 'children' must be a list of nodes, not 'finish'"),
        ("sequence: {children: {finish: }}", "1:22: 'children' must be a list of nodes, not a mapping"),
        ("inverter: [finish]", "1:11: 'inverter' takes one child, not a list"),
        ("inverter: []", "1:1: 'inverter' needs a child"),
        ("retry: {chld: finish, attempts: 1, child: finish}", "1:9: 'retry' has no setting 'chld'"),
        ("retry: {atempts: 1, child: finish}", "1:9: 'retry' has no setting 'atempts'"),
        ("inverter: {conditon: 1 < 2}", "1:12: there is no node kind 'conditon'"),
        ("{finish: , notify: x}", "1:12: a node has one key, its kind; found 'notify' beside 'finish'"),
        ("{name: x, finish: }", "1:2: a node has one key, its kind; found 'name' beside 'finish'"),
        ("finish: {name: a/b}", "1:16: 'a/b' cannot name a node"),
        ("finish: {name: 'a#2'}", "1:16: 'a#2' cannot name a node"),
        ("finish: {name: ''}", "1:16: '' cannot name a node"),
        ("finish: {name: ' a'}", "1:16: ' a' cannot name a node"),
        ('finish: {name: "a\\e"}', "1:16: 'a\\x1b' cannot name a node"),
        ("finish: {name: 3}", "1:16: 3 cannot name a node"),
        ("sequence:\n  - finish: {name: a}\n  - notify: {name: a, message: x}",
         "3:5: a sibling is called 'a' already, on line 5"),
        ("sequence:\n  - finish: {name: notify}\n  - notify: x",
         "3:5: a sibling is called 'notify' already, on line 5"),
        ("condition: turn > 3 and trn", "1:25: there is no blackboard key or parameter 'trn'"),
        ("condition: 'turn > 3 and trn'", "1:26: there is no blackboard key or parameter 'trn'"),
        ('condition: {when: "é == trn"}', "1:20: there is no blackboard key or parameter 'é'"),
        ("condition: >\n  turn > 3\n  and trn", "1:12: there is no blackboard key or parameter 'trn'"),
        ('condition: "\\x74rn"', "1:12: there is no blackboard key or parameter 'trn'"),
        ("condition: turn =< 3", "1:17: '=' is not used in expressions"),
        ("loop: {until: trn, child: finish}", "1:15: there is no blackboard key or parameter 'trn'"),
        ("set: {hnt: 1}", "1:7: there is no blackboard key 'hnt'"),
        ("set: {turn: 1}", "1:7: the blackboard key 'turn' can only be read: the host writes it"),
        ("set: {hint: hnt}", "1:13: there is no blackboard key or parameter 'hnt'"),
        ("subtree: other", "1:10: there is no tree 'other'"),
        ("notify: ${x}", "1:9: there is no parameter 'x'"),
        ("notify: a ${x y} b", "1:9: there is no parameter 'x y'"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_node_is_reported_at_its_place(yaml, message):
    assert reported(yaml) == [message]


@pytest.mark.parametrize(
    ("yaml", "right"),
    [
        ("llm_turn: {timeout: 3}", "did you mean 'timeout_s'?"),
        ("finish: {x: 1}", "it has no settings"),
        ("retry: {x: 1, attempts: 1, child: finish}", "it has: attempts, backoff_s, child"),
        ("llm_trun", "did you mean 'llm_turn'?"),
        ("llm_turn: {effort: hgh}", "did you mean 'high'?"),
        ("llm_turn: {stream: no}", "write true or false"),
        ("notify: 3", "put quotes around it"),
        ("notify", "it is text"),
        ("retry: {child: finish}", "it is a whole number"),
        ("inverter: [finish]", "put the nodes into a sequence"),
        ("inverter", "write it below 'child:'"),
        ("set: {hnt: 1}", "did you mean 'hint'?"),
        ("set: {xyzzy: 1}", "declare it under 'blackboard:'"),
    ],
)
def test_a_hint_suggests_a_valid_spelling(yaml, right):
    assert hint(yaml) == right


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "1:1: a tree file is a mapping, not 'a'"),
        ("", "1:1: a tree file is a mapping, not null"),
        ("[a]", "1:1: a tree file is a mapping, not a list"),
        ("root: finish", "1:1: the tree file has no 'tree'"),
        ("tree: t", "1:1: the tree file has no 'root'"),
        ("tree: T\nroot: finish", "1:7: 'T' cannot name a tree"),
        ("tree: ../t\nroot: finish", "1:7: '../t' cannot name a tree"),
        ("tree: 3\nroot: finish", "1:7: 3 cannot name a tree"),
        ("tree: t\nroot: finish\nroots: 1", "3:1: a tree file has no 'roots'"),
        ("tree: t\nroot: finish\ndescription: [1]", "3:14: 'description' must be text, not [1]"),
        ("tree: t\nroot: finish\nblackboard: [a]", "3:13: 'blackboard' must be a mapping, not a list"),
        ("tree: t\nroot: finish\nblackboard: {a: number}", "3:17: 'number' is not a type"),
        ("tree: t\nroot: finish\nblackboard: {a: 3}", "3:17: 3 is not a type"),
        ("tree: t\nroot: finish\nblackboard: {a: {default: 3}}", "3:14: 'a' needs a type"),
        ("tree: t\nroot: finish\nblackboard: {a: {type: number}}", "3:24: 'number' is not a type"),
        ("tree: t\nroot: finish\nblackboard: {a: {type: number, default: x}}", "3:24: 'number' is not a type"),
        ("tree: t\nroot: finish\nblackboard: {A: {type: int, default: x}}", "3:14: 'A' cannot be a name here"),
        ("tree: t\nroot: finish\nblackboard: {a: {type: int, default: x}}",
         "3:38: the default of 'a' must be a whole number, not 'x'"),
        ("tree: t\nroot: finish\nblackboard: {a: {type: int, defalt: 1}}", "3:29: 'a' has no 'defalt'"),
        ("tree: t\nroot: finish\nblackboard: {A: int}", "3:14: 'A' cannot be a name here"),
        ("tree: t\nroot: finish\nblackboard: {not: int}", "3:14: 'not' cannot be a name here"),
        ("tree: t\nroot: finish\nblackboard: {turn: str}",
         "3:20: 'turn' is declared as str, but the host declares it as int"),
        ("tree: t\nroot: finish\nparameters: {turn: int}",
         "3:14: the parameter 'turn' has the name of a blackboard key"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_header_is_reported_at_its_place(text, message):
    assert [f"{m.place.line}:{m.place.column}: {m.message}" for m in mistakes(text)] == [message]


def test_all_mistakes_of_a_file_are_reported_together_in_order():
    text = """\
tree: t
blackboard: {a: inte}
root:
  seqence:
    - llm_turn: {timeout: 3, effort: x}
    - condition: trn > 1
    - inverter: {retry: {attempts: x, child: finnish}}
    - llm_trun: {timeout_s: 0}
    - sequence: {memory: false, children: [{notify: x}, finish, {condition: }]}
  name: x
"""
    places = [(m.place.line, m.place.column) for m in mistakes(text)]

    assert places == [
        (2, 17), (4, 3), (5, 18), (5, 38), (6, 18), (7, 36), (7, 46), (8, 7), (8, 29), (9, 45), (9, 66), (10, 3)
    ]  # fmt: skip


def test_mistakes_have_the_path_of_their_node():
    (mistake,) = mistakes("tree: t\nroot: {sequence: [finish, {retry: {attempts: x, child: finish}}]}")

    assert mistake.path == "sequence/retry"


def test_the_error_prints_all_mistakes_with_their_lines():
    with pytest.raises(TreeFileError) as caught:
        read("tree: t\nroot: finnish\n")

    assert str(caught.value) == (
        "t.yaml:2:7: there is no node kind 'finnish'\n"
        "    2 | root: finnish\n"
        "      |       ^\n"
        "hint: did you mean 'finish'?"
    )


@pytest.mark.parametrize(
    ("kind", "children", "repeated"),
    [
        pytest.param("sequence", "[{notify: x}, llm_turn]", ["sequence/notify"], id="sequence"),
        pytest.param("selector", "[{notify: x}, llm_turn]", ["selector/notify"], id="selector"),
        pytest.param("sequence", "[{inverter: {sequence: [{notify: x}]}}, {inverter: finish}]",
                     ["sequence/inverter/sequence/notify"], id="at any depth"),
        pytest.param("sequence", "[llm_turn, finish]", ["sequence/llm_turn"], id="it waits itself"),
        pytest.param("sequence", "[llm_turn, has_tool_calls, {notify: x}]", [], id="nothing waits behind it"),
        pytest.param("sequence", "[has_tool_calls, turn_budget, llm_turn]", [], id="conditions"),
    ],
)  # fmt: skip
def test_an_action_that_a_reactive_composite_would_repeat_is_refused(kind, children, repeated):
    root(f"{kind}: {{memory: true, children: {children}}}")
    try:
        root(f"{kind}: {{memory: false, children: {children}}}")
        found = []
    except TreeFileError as error:
        found = [m.path for m in error.mistakes if "would be run again at every tick" in m.message]

    assert found == repeated


def test_nodes_are_bounded():
    (mistake,) = mistakes("tree: t\nroot: {sequence: [" + "finish, " * 2_001 + "]}")

    assert mistake.message == "the tree has more than 2,000 nodes, its subtrees included"


def test_depth_is_bounded():
    yaml = "{inverter: " * 70 + "finish" + "}" * 70

    assert [m.message for m in mistakes(f"tree: t\nroot: {yaml}")] == ["the tree is more than 64 nodes deep"]


def test_a_tree_expanded_by_aliases_is_bounded():
    text = "tree: t\nroot:\n  sequence:\n    - &a {sequence: [" + "finish, " * 50 + "]}\n"
    text += "    - &b {sequence: [" + "*a, " * 50 + "]}\n    - {sequence: [" + "*b, " * 5 + "]}\n"

    assert "more than 2,000 nodes" in mistakes(text)[-1].message


def test_sixty_nodes_are_read_quickly():
    children = "{condition: turn > 1 and not sources}, {llm_turn: {timeout_s: 9}}, {notify: x}"
    text = "tree: t\nroot:\n  sequence:\n" + f"    - sequence: [{children}]\n" * 15
    begun = time.perf_counter()
    tree = read(text)

    assert len(tree.nodes()) == 61
    assert time.perf_counter() - begun < 0.5  # some 3 ms; the bound is for busy machines


def test_the_version_depends_on_the_text_alone():
    assert read(ORACLE).sha == read(ORACLE.encode()).sha
    assert read(ORACLE).sha != read(ORACLE + "\n").sha


def check(text):
    """Reading gives a tree or mistakes that can be printed."""
    try:
        tree = read_tree(text, file="f", registry=REGISTRY)
    except TreeFileError as error:
        wrong = error
    else:
        paths = [node.path for node in tree.nodes()]
        assert len(paths) == len(set(paths))
        return
    lines = len(wrong.sources["f"].splitlines()) + 1
    assert wrong.mistakes
    assert str(wrong)
    assert all(1 <= m.place.line <= lines and m.place.column >= 1 for m in wrong.mistakes)


WORDS = st.sampled_from(
    [kind.name for kind in KINDS]
    + ["name", "child", "children", "memory", "when", "values", "attempts", "tree", "with", "root", "turn", "hint"]
    + ["on", "null", "3", "-1", "2.5", "[]", "{}", "''", "${x}", "a/b"]
)
VALUES = st.recursive(
    WORDS,
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(st.tuples(WORDS, inner), max_size=3).map(
            lambda items: "{" + ", ".join(f"{key}: {value}" for key, value in items) + "}"
        )
    ),
    max_leaves=12,
)


@given(VALUES)
def test_any_nodes_give_a_tree_or_mistakes(value):
    check(f"tree: t\nroot: {value}\n")


@given(st.one_of(st.text(), st.binary()))
def test_any_text_gives_a_tree_or_mistakes(text):
    check(text)


@given(
    st.lists(
        st.tuples(st.integers(0, len(ORACLE)), st.integers(0, 12), st.text(max_size=3) | WORDS | st.just("\n")),
        min_size=1,
        max_size=4,
    )
)
@example([(len(ORACLE) // 2, 1, "\t")])
def test_a_damaged_file_gives_a_tree_or_mistakes(edits):
    text = ORACLE
    for at, removed, added in edits:
        text = text[:at] + added + text[at + removed :]
    check(text)


@given(st.permutations(ORACLE.splitlines(keepends=True)[1:]))
def test_a_shuffled_file_gives_a_tree_or_mistakes(lines):
    check("".join(lines))


class RaisingSettings(NodeSettings):
    """Settings of `raising`."""

    at: Literal["reading", "uses"]

    @field_validator("at")
    @classmethod
    def check(cls, at):
        if at == "reading":
            raise RuntimeError("no idea")
        return at

    def uses(self):
        raise KeyError("what")


@pytest.mark.parametrize(("at", "error"), [("reading", "RuntimeError: no idea"), ("uses", "KeyError: 'what'")])
def test_a_kind_whose_settings_raise_is_a_mistake_where_it_is_used(at, error):
    @node("raising", settings=RaisingSettings)
    class Raising(Node[RaisingSettings]):
        """SUCCESS."""

        def update(self):
            return Status.SUCCESS

    with pytest.raises(TreeFileError) as caught:
        read_tree(f"tree: t\nroot: {{raising: {{at: {at}}}}}\n", file="t.yaml", registry=registry_of([Raising.kind]))
    (mistake,) = caught.value.mistakes
    assert (mistake.place.line, mistake.place.column) == (2, 8)
    assert mistake.message == f"the settings of 'raising' cannot be read: {error}"
