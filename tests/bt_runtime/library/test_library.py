import os
from pathlib import Path

import pytest

from bt_runtime import STANDARD, load
from bt_runtime.analysis.files import check_files
from bt_runtime.language.errors import TreeFileError, TreeNotFoundError
from bt_runtime.library.named import TreeLibrary, read_sources
from tests.bt_runtime.sample_kinds import ORACLE, REGISTRY

GREET = """\
tree: greet
blackboard: {greeted: {type: int, default: 1}}
parameters:
  times: {type: int, default: 2, description: How often.}
  text: str
root:
  retry:
    attempts: ${times}
    child:
      sequence:
        - condition: greeted < times
        - notify: "Hello ${text}, ${times} times, $${times}"
        - notify: ${text}
"""
MAIN = """\
tree: main
root:
  sequence:
    - subtree: {tree: greet, with: {text: you}}
    - subtree: {name: again, tree: greet, with: {text: all, times: 3}}
"""


class Shelf:
    """Folders of tree files."""

    def __init__(self, path: Path):
        self.path = path

    def library(self, *folders):
        return TreeLibrary([self.path / folder for folder in folders] or [self.path], registry=REGISTRY)

    def put(self, **files):
        for name, text in files.items():
            path = self.path / f"{name.replace('__', '/')}.yaml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return self


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path)


def tree(name, root, head=""):
    return f"tree: {name}\n{head}\nroot: {root}\n"


def mistakes(library, name, **arguments):
    with pytest.raises(TreeFileError) as caught:
        library.load(name, arguments=arguments)
    return [
        f"{Path(m.place.file).stem}:{m.place.line}:{m.place.column}: {m.message}" for m in caught.value.mistakes
    ]  # fmt: skip


def test_trees_are_found_by_their_files_names(shelf):
    library = shelf.put(a=tree("a", "finish"), b=tree("b", "finish"), B=tree("b", "finish")).library()
    shelf.put(**{"a.test": "not a tree"})
    (shelf.path / "c.yml").write_text(tree("c", "finish"))
    (shelf.path / "notes.txt").write_text("")
    (shelf.path / "d.yaml").mkdir()

    assert library.names() == ("a", "b")
    assert library.load("a").name == "a"
    assert library.find("b") == shelf.path / "b.yaml"


def test_the_first_folder_wins(shelf):
    shelf.put(own__a=tree("a", "finish"), shipped__a=tree("a", "llm_turn"), shipped__b=tree("b", "{subtree: a}"))
    library = shelf.library("own", "missing", "shipped")

    assert library.names() == ("a", "b")
    assert [node.kind for node in library.load("b").nodes()] == ["subtree", "finish"]
    assert library.load("b").file == str(shelf.path / "shipped" / "b.yaml")


@pytest.mark.parametrize("name", ["../secret", "a/b", "/etc/passwd", "", "A", "a\x00", "a.test", "..", "x" * 300])
def test_a_name_cannot_leave_its_folder(shelf, name):
    shelf.put(secret=tree("secret", "finish"), own__a=tree("a", "finish"))

    with pytest.raises(TreeNotFoundError):
        shelf.library("own").load(name)


def test_an_unknown_tree_is_an_error_with_the_nearest_name_or_the_folders(shelf):
    library = shelf.put(oracle=ORACLE).library()

    with pytest.raises(TreeNotFoundError, match="did you mean 'oracle'"):
        library.load("orcale")
    with pytest.raises(TreeNotFoundError, match=f"looked in {shelf.path}"):
        library.load("xyzzy")


def test_a_tree_must_have_the_name_of_its_file(shelf):
    library = shelf.put(a=tree("b", "finish")).library()

    assert mistakes(library, "a") == ["a:1:7: the tree is called 'b', but its file 'a'"]


def test_subtrees_replace_the_nodes_that_include_them(shelf):
    main = shelf.put(main=MAIN, greet=GREET).library().load("main")

    assert [node.path for node in main.nodes()] == [
        "sequence",
        "sequence/subtree",
        "sequence/subtree/retry",
        "sequence/subtree/retry/sequence",
        "sequence/subtree/retry/sequence/condition",
        "sequence/subtree/retry/sequence/notify",
        "sequence/subtree/retry/sequence/notify#2",
        "sequence/again",
        "sequence/again/retry",
        "sequence/again/retry/sequence",
        "sequence/again/retry/sequence/condition",
        "sequence/again/retry/sequence/notify",
        "sequence/again/retry/sequence/notify#2",
    ]
    assert main.subtrees == ("greet",)
    assert main.keys["greeted"].default == 1


def test_arguments_replace_parameters(shelf):
    nodes = shelf.put(main=MAIN, greet=GREET).library().load("main").nodes()

    assert [node.settings.attempts for node in nodes if node.kind == "retry"] == [2, 3]
    assert [node.settings.message for node in nodes if node.kind == "notify"] == [
        "Hello you, 2 times, ${times}", "you", "Hello all, 3 times, ${times}", "all"
    ]  # fmt: skip
    assert [node.constants for node in nodes if node.kind == "condition"] == [
        {"times": 2, "text": "you"}, {"times": 3, "text": "all"}
    ]  # fmt: skip
    assert nodes[0].constants == {}


def test_arguments_are_passed_on(shelf):
    outer = tree("outer", "{subtree: {tree: inner, with: {value: '${list}'}}}", "parameters: {list: list}")
    inner = tree("inner", "{llm_turn: {tools: '${value}'}}", "parameters: {value: list}")
    main = tree("main", "{subtree: {tree: outer, with: {list: [a, b]}}}")
    nodes = shelf.put(main=main, outer=outer, inner=inner).library().load("main").nodes()

    assert nodes[-1].path == "subtree/subtree/llm_turn"
    assert nodes[-1].settings.tools == ("a", "b")


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("{tree: greet}", "main:3:24: the tree 'greet' needs the argument 'text' (text)"),
        ("{tree: greet, with: {text: a, time: 1}}", "main:3:47: the tree 'greet' has no parameter 'time'"),
        ("{tree: greet, with: {text: a, times: x}}", "main:3:54: 'times' must be a whole number, not 'x'"),
        ("{tree: greet, with: {text: 3}}", "main:3:44: 'text' must be text, not 3"),
        ("{tree: greet, with: {text: a, times: 0}}", "greet:8:15: 'attempts' must be at least 1, not 0"),
        ("greeet", "main:3:17: there is no tree 'greeet'"),
        ("../greet", "main:3:17: there is no tree '../greet'"),
    ],
)
def test_an_invalid_inclusion_is_reported_at_its_place(shelf, node, message):
    library = shelf.put(main=tree("main", f"{{subtree: {node}}}"), greet=GREET).library()

    assert mistakes(library, "main") == [message]


@pytest.mark.parametrize(
    ("files", "cycle"),
    [
        ({"a": "a"}, "a -> a"),
        ({"a": "b", "b": "a"}, "a -> b -> a"),
        ({"a": "b", "b": "c", "c": "b"}, "b -> c -> b"),
    ],
)
def test_a_tree_that_includes_itself_is_refused_with_the_cycle(shelf, files, cycle):
    library = shelf.put(**{name: tree(name, f"{{subtree: {other}}}") for name, other in files.items()}).library()

    assert mistakes(library, "a")[0].endswith(f"the tree {cycle[0]!r} includes itself: {cycle}")


def test_inclusion_is_bounded_in_depth_and_size(shelf):
    shelf.put(**{f"t{i}": tree(f"t{i}", f"{{subtree: t{i + 1}}}") for i in range(40)}, t40=tree("t40", "finish"))
    two = "{sequence: [{subtree: u%d}, {subtree: u%d}]}"
    shelf.put(**{f"u{i}": tree(f"u{i}", two % (i + 1, i + 1)) for i in range(15)}, u15=tree("u15", "finish"))

    assert "nested more than 16 deep" in mistakes(shelf.library(), "t0")[0]
    assert "more than 2,000 nodes" in mistakes(shelf.library(), "u0")[0]


def test_arguments_that_grow_from_tree_to_tree_are_bounded(shelf):
    more = "${x}" * 200
    for i in range(5):
        root = f"{{subtree: {{tree: t{i + 1}, with: {{x: '{more}'}}}}}}"
        shelf.put(**{f"t{i}": tree(f"t{i}", root, "parameters: {x: {type: str, default: xxxxxxxxxx}}")})
    shelf.put(t5=tree("t5", "{notify: '${x}'}", "parameters: {x: str}"))

    assert "more than 100,000 characters" in mistakes(shelf.library(), "t0")[0]


def test_keys_of_all_files_are_one_blackboard(shelf):
    shelf.put(
        main=tree("main", "{sequence: [{subtree: a}, {subtree: b}]}", "blackboard: {x: {type: int, default: 1}}"),
        a=tree("a", "{set: {x: 2}}", "blackboard: {x: {type: int, default: 7}, max_turns: {type: int, default: 9}}"),
        b=tree("b", "finish"),
    )
    keys = shelf.library().load("main").keys

    assert (keys["x"].default, keys["max_turns"].default, keys["max_turns"].read_only) == (1, 9, True)

    shelf.put(b=tree("b", "finish", "blackboard: {x: str}"))

    assert mistakes(shelf.library(), "main") == ["b:1:7: 'x' is declared as str, but by the tree 'main' as int"]


def test_a_subtree_knows_only_the_keys_that_it_declares(shelf):
    shelf.put(
        main=tree("main", "{subtree: a}", "blackboard: {x: int}"),
        a=tree("a", "{condition: x > 1}"),
    )

    assert mistakes(shelf.library(), "main") == ["a:3:19: there is no blackboard key or parameter 'x'"]


def test_mistakes_of_all_files_are_reported_once(shelf):
    main = tree("main", "{sequence: [{subtree: a}, {subtree: {tree: a, name: b}}, finnish]}")
    library = shelf.put(main=main, a=tree("a", "{retry: {attempts: x, child: finnish}}")).library()

    assert sorted(mistakes(library, "main")) == [
        "a:3:26: 'attempts' must be a whole number, not 'x'",
        "a:3:36: there is no node kind 'finnish'",
        "main:3:64: there is no node kind 'finnish'",
    ]
    with pytest.raises(TreeFileError) as caught:
        library.load("main")
    assert str(caught.value).count("    3 | root:") == 3


def test_an_action_in_a_subtree_that_a_reactive_sequence_repeats_is_refused(shelf):
    main = tree("main", "{sequence: {memory: false, children: [{subtree: a}, llm_turn]}}")
    library = shelf.put(main=main, a=tree("a", "{notify: x}")).library()

    assert mistakes(library, "main") == [
        "a:3:8: 'notify' would be run again at every tick while 'sequence/llm_turn' is running"
    ]


def test_the_version_covers_all_files(shelf):
    library = shelf.put(main=MAIN, greet=GREET).library()
    before = library.load("main").sha
    greet = library.preview("greet").sha
    shelf.put(greet=GREET + "# changed\n")

    assert library.load("main").sha != before
    assert library.preview("greet").sha != greet
    shelf.put(greet=GREET)
    assert library.load("main").sha == before


def test_a_tree_with_parameters_needs_arguments_to_be_run_but_not_to_be_shown(shelf):
    library = shelf.put(greet=GREET).library()

    assert mistakes(library, "greet") == ["greet:1:7: the tree 'greet' needs the argument 'text' (text)"]
    assert library.preview("greet").root.children["child"][0].children["children"][2].settings.message == "sample"
    assert library.load("greet", arguments={"text": "you"}).root.settings.attempts == 2
    assert mistakes(library, "greet", text=3) == ["greet:1:7: 'text' must be text, not 3"]


def test_what_is_wrong_only_with_a_sample_value_is_not_a_mistake(shelf):
    head = "parameters: {effort: str, tree: str, key: str, real: str}"
    root = (
        "{sequence: [{llm_turn: {effort: '${effort}'}}, {condition: '${key}'}, {notify: '${real}'}, {llm_turn: "
        "{effort: '${effort}', timout: 3}}]}"
    )
    library = shelf.put(a=tree("a", root, head)).library()
    (checked,) = check_files(library, [shelf.path / "a.yaml"]).files

    assert [mistake.message for mistake in checked.mistakes] == ["'llm_turn' has no setting 'timout'"]

    shelf.put(a=tree("a", root.replace(", timout: 3", ""), head))
    report = check_files(library, [shelf.path / "a.yaml"])

    assert report.ok
    assert str(report) == f"{shelf.path / 'a.yaml'}: OK"
    with pytest.raises(TreeFileError, match="no sample value fits"):
        library.preview("a")


NOTED = "parameters: {of: str, every: {type: int, default: 3}}"


@pytest.mark.parametrize(
    ("expression", "column", "name"),
    [("'Remember: ${of}true", 23, "of"), ("'${of}'", 13, "of"), ("turn % ${every} == 0", 19, "every")],
)
def test_a_placeholder_in_the_text_of_an_expression_is_a_mistake_with_a_hint(shelf, expression, column, name):
    library = shelf.put(note=tree("note", f'{{set: {{hint: "{expression}"}}}}', NOTED)).library()
    (checked,) = check_files(library, [shelf.path / "note.yaml"]).files
    (mistake,) = checked.mistakes
    assert mistake.message == f"an expression takes a parameter by its name, not as '${{{name}}}' in its text"
    assert mistake.hint.endswith(f"'Remember: ' + {name}")
    assert mistake.place.line == 3


def test_an_argument_may_be_any_text_where_an_expression_names_its_parameter(shelf):
    note = tree("note", """{set: {hint: "'Remember: ' + of"}}""", NOTED)
    main = tree("main", """{subtree: {tree: note, with: {of: "don't guess ${of}"}}}""", "parameters: {of: str}")
    library = shelf.put(note=note, main=main).library()
    definition = library.load("main", arguments={"of": "'"})
    assert [node.constants.get("of") for node in definition.nodes()][-1] == "don't guess '"


def test_an_argument_that_is_an_invalid_expression_is_reported_where_it_is_written(shelf):
    guard = tree("guard", "{condition: '${when}'}", "parameters: {when: str}")
    main = tree("main", "\n  subtree:\n    tree: guard\n    with: {when: turn >}")
    library = shelf.put(guard=guard, main=main).library()
    with pytest.raises(TreeFileError) as wrong:
        library.load("main")
    (mistake,) = wrong.value.mistakes
    assert (mistake.place.file, mistake.message) == (str(shelf.path / "main.yaml"), "the expression ends too early")
    assert "guard.yaml" in mistake.hint


def test_a_text_is_read_without_a_file(shelf):
    library = shelf.put(greet=GREET).library()

    assert library.read_text(MAIN).subtrees == ("greet",)
    with pytest.raises(TreeFileError, match="<text>:1:7: the tree is called 'main', but its file 'other'"):
        library.read_text(MAIN, name="other")


def test_a_single_file_is_loaded_with_the_trees_beside_it(shelf):
    shelf.put(main=MAIN, greet=GREET)

    assert load(str(shelf.path / "main.yaml"), registry=REGISTRY).subtrees == ("greet",)
    with pytest.raises(TreeFileError, match="the file cannot be read: No such file"):
        load(shelf.path / "other.yaml", registry=REGISTRY)


def test_a_check_reports_each_file(shelf):
    shelf.put(x__main=MAIN, x__greet=GREET, x__bad=tree("bad", "finnish"), **{"x__main.test": "?"})
    (shelf.path / "x" / "two.yml").write_text(tree("two", "finish"))
    report = check_files(shelf.library("elsewhere"), [shelf.path / "x"])

    assert not report.ok
    assert str(report).splitlines() == [
        f"{shelf.path}/x/greet.yaml: OK (greet, 5 nodes)",
        f"{shelf.path}/x/main.yaml: OK (main, 13 nodes, includes greet)",
        f"{shelf.path}/x/two.yml: OK (two, 1 node)",
        f"{shelf.path}/x/bad.yaml:3:7: there is no node kind 'finnish'",
        "    3 | root: finnish",
        "      |       ^",
        "hint: did you mean 'finish'?",
    ]


def test_what_cannot_be_read_is_a_mistake(shelf):
    (shelf.path / "empty").mkdir()
    (shelf.path / "binary.yaml").write_bytes(b"tree: \xff")
    (shelf.path / "big.yaml").write_bytes(b"#" * 2_000_000)
    os.mkfifo(shelf.path / "pipe.yaml")
    names = ["empty", "missing.yaml", "binary.yaml", "big.yaml", "pipe.yaml", "nul\0.yaml"]
    report = check_files(shelf.library(), [shelf.path / name for name in names])

    assert [mistake.message for file in report.files for mistake in file.mistakes] == [
        "there is no tree file in this folder",
        "the file cannot be read: No such file or directory",
        "the byte 0xFF is not UTF-8",
        "the file is larger than 1,000,000 bytes",
        "this is not a file",
        "the file cannot be read: embedded null byte",
    ]
    assert str(report)


def test_a_file_is_read_on_every_call(shelf):
    library = shelf.put(a=tree("a", "finish")).library()
    assert library.load("a").root.kind == "finish"

    shelf.put(a=tree("a", "llm_turn"))

    assert library.load("a").root.kind == "llm_turn"


def test_the_same_texts_are_read_once_and_mistakes_each_time():
    texts = {"main": "tree: main\nroot: {notify: hello}\n"}
    tree = read_sources(texts, name="main", registry=REGISTRY)
    assert read_sources(dict(texts), name="main", registry=REGISTRY) is tree
    assert read_sources(texts, name="main", registry=STANDARD) is not tree
    other = read_sources({"main": texts["main"].replace("hello", "bye")}, name="main", registry=REGISTRY)
    assert other.sha != tree.sha
    for _ in range(2):
        with pytest.raises(TreeFileError):
            read_sources({"main": "tree: main\nroot: {notfy: hello}\n"}, name="main", registry=REGISTRY)
