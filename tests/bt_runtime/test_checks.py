"""What the checker knows of a host, and how much it tells."""

import pytest

from bt_runtime import STANDARD, HostAction, Key, Mistake, TreeError, TreeFileError, TreeLibrary, build, format_mistakes
from bt_runtime.analysis.files import check_files
from bt_runtime.language.definition import NodeDefinition, TreeDefinition
from bt_runtime.language.kind import NodeSettings
from bt_runtime.library.named import read_tree
from bt_runtime.testing import registry_of
from bt_runtime.text import MOST_MISTAKES, Place

ACTIONS = {
    "search": HostAction(("query", "limit"), frozenset({"query"})),
    "anything": HostAction(None),
}
HEAD = "tree: demo\nparameters: {tool: {type: str, default: none}}\nroot:\n  "
KNOWING = registry_of().with_actions(ACTIONS)


def mistakes(root, registry=KNOWING):
    try:
        read_tree(HEAD + root + "\n", file="<test>", registry=registry)
    except TreeFileError as error:
        return [(mistake.place.column, mistake.message, mistake.hint) for mistake in error.mistakes]
    return []


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        ("action: {call: search, with: {query: 1}}", []),
        ("action: {call: anything, with: {whatever: 1}}", []),
        ("action: serch", [(11, "there is no action 'serch'", "did you mean 'search'?")]),
        ("action: {call: fly}", [(18, "there is no action 'fly'", "there are: anything, search")]),
        (
            "action: {call: search, with: {qurey: 1, limit: 2}}",
            [
                (33, "'search' has no argument 'qurey'", "did you mean 'query'?"),
                (26, "'search' needs the argument 'query'", "write 'with: {query: ...}'"),
            ],
        ),
        ("action: search", [(11, "'search' needs the argument 'query'", "write 'with: {query: ...}'")]),
    ],
)
def test_an_unknown_action_or_wrong_arguments_are_mistakes(root, expected):
    assert sorted(mistakes(root)) == sorted(expected)
    assert mistakes(root, registry_of()) == []  # the actions are unknown


def test_an_action_named_by_a_parameter_is_checked_with_its_argument(tmp_path):
    (tmp_path / "call.yaml").write_text("tree: call\nparameters: {tool: str}\nroot: {action: '${tool}'}\n")
    library = TreeLibrary([tmp_path], registry=KNOWING)
    assert check_files(library, [tmp_path / "call.yaml"]).ok
    with pytest.raises(TreeFileError, match="there is no action 'fly'"):
        library.load("call", arguments={"tool": "fly"})


def test_more_than_a_hundred_mistakes_are_counted():
    mistakes_made = [Mistake(Place("a.yaml", line, 1), f"wrong {line}") for line in range(1, 1001)]
    text = format_mistakes(mistakes_made)
    assert text.count("wrong") == MOST_MISTAKES
    assert text.endswith("\nand 900 more mistakes")
    assert format_mistakes(mistakes_made[:101]).endswith("\nand 1 more mistake")
    root = "sequence: [" + ", ".join(["finsh"] * 1500) + "]"
    with pytest.raises(TreeFileError) as wrong:
        read_tree(HEAD + root, file="<test>", registry=registry_of())
    assert len(str(wrong.value)) < 60_000
    assert len(wrong.value.mistakes) == MOST_MISTAKES
    assert wrong.value.omitted == 1400


def deep(levels):
    node = NodeDefinition("sequence", None, "leaf", STANDARD.kind("sequence").settings(), {}, Place("x", 1, 1))
    for level in range(levels - 1):
        settings = STANDARD.kind("inverter").settings()
        node = NodeDefinition("inverter", None, f"n{level}", settings, {"child": (node,)}, Place("x", 1, 1))
    return TreeDefinition("deep", "", {"a": Key("a", "int")}, node, "", "", "x")


def test_a_definition_that_is_deeper_than_it_could_run_is_refused_with_the_bound():
    assert isinstance(STANDARD.kind("inverter").settings(), NodeSettings)
    assert len(deep(5_000).nodes()) == 5_000
    for levels in (201, 5_000):
        with pytest.raises(TreeError, match="the tree 'deep' is more than 200 nodes deep"):
            build(deep(levels))
