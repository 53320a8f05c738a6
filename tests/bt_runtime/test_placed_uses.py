from bt_runtime.library.named import read_tree
from tests.bt_runtime.sample_kinds import REGISTRY


def read(text):
    return read_tree(text, file="t.yaml", registry=REGISTRY)


def lines_of(text, tree):
    """Each use with the text of the file from its place on."""
    lines = text.splitlines()
    for node in tree.nodes():
        for placed in node.uses:
            yield placed, lines[placed.place.line - 1][placed.place.column - 1 :]


TEXT = """\
tree: t
blackboard:
  total: { type: int, default: 0 }
parameters: { limit: { type: int, default: 3 }, word: { type: str, default: "'x'" } }
root:
  sequence:
    - condition: "turn > 3"
    - set: { total: turn + 1 }
    - condition: >-
        turn
        > 3
    - condition: ${word}
"""


def test_each_use_of_a_node_has_its_place():
    tree = read(TEXT)
    found = [(type(placed.use).__name__, placed.is_verbatim, rest) for placed, rest in lines_of(TEXT, tree)]
    assert found == [
        ("ExpressionUse", True, 'turn > 3"'),
        ("KeyUse", False, "total: turn + 1 }"),
        ("ExpressionUse", True, "turn + 1 }"),
        ("ExpressionUse", False, ">-"),
        ("ExpressionUse", False, "${word}"),
    ]


def test_a_column_of_a_text_is_a_place_where_the_file_has_the_text_as_it_is():
    uses = [placed for placed, _ in lines_of(TEXT, read(TEXT)) if type(placed.use).__name__ == "ExpressionUse"]
    assert (uses[0].at(8).line, uses[0].at(8).column) == (7, 26)
    assert uses[2].at(8) == uses[2].place


def test_a_tree_knows_what_its_file_declares():
    found = [
        (declared.key.name, declared.tree, declared.is_parameter, declared.is_inserted, str(declared.place))
        for declared in read(TEXT).declarations
    ]
    assert found == [
        ("total", "t", False, False, "t.yaml:3:3"),
        ("limit", "t", True, False, "t.yaml:4:15"),
        ("word", "t", True, True, "t.yaml:4:49"),
    ]
