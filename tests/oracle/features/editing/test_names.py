"""Hover, definition, references and rename: texts with a cursor (`|`)."""

from pathlib import Path

import pytest

from oracle.features.editing.describing import hover
from oracle.features.editing.occurrences import Occurrence
from oracle.features.editing.symbols import RenameError, definition, references, rename
from tests.oracle.features.editing.desks import cut, desk_in

TREE = """\
tree: mine
blackboard:
  nudges: { type: int, default: 0, description: How often. }
parameters:
  every: { type: int, default: 3 }
root:
  sequence:
    - condition: nudges % every == 0 and signal in ["stuck"]
    - set: { nudges: nudges + 1, hint: "'The 😀 nudges ' + question" }
    - notify: { message: "Nudged {nudges} times.", topic: stuck }
    - retry: { name: again, attempts: "${every}", child: llm_turn }
    - subtree: { tree: remind, with: { of: question } }
    - action: { call: search_code, with: { query: question } }
"""
REMIND = """\
tree: remind
description: Reminds the model.
blackboard:
  nudges: int
parameters:
  of: { type: str, description: The text. }
root:
  condition: >
    nudges > 1
    and of == question
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "remind.yaml").write_text(REMIND)
    (tmp_path / "apart.yaml").write_text("tree: apart\nblackboard: { nudges: int }\nroot: { set: { nudges: 1 } }\n")
    return tmp_path


def marked(line: int, at: str) -> tuple[int, int]:
    """Line and column of the second character of a text in a line of `TREE`."""
    return line, TREE.split("\n")[line - 1].index(at) + 2


HOVERED = {
    "a header field": (2, "blackboard", "Keys that the nodes read and write"),
    "a declared key": (3, "nudges", "How often."),
    "a type": (3, "int", "A whole number."),
    "a kind": (7, "sequence", "until one fails"),
    "a key in an expression": (8, "nudges", "How often."),
    "a parameter in an expression": (8, "every", "parameter: int"),
    "a key of the host with its values": (8, "signal", "`need_turn`"),
    "a key that is set": (9, "hint", "A note for the model"),
    "a key in a message": (10, "nudges}", "How often."),
    "a setting": (10, "topic", "treat some notices differently"),
    "a setting with its type": (11, "attempts", "required"),
    "a parameter in a setting": (11, "every", "parameter: int"),
    "a tree": (12, "remind", "Reminds the model."),
    "a tool": (13, "search_code", "Finds code."),
}


@pytest.mark.parametrize(("line", "word", "said"), HOVERED.values(), ids=HOVERED)
def test_a_word_has_a_description(line: int, word: str, said: str, folder: Path) -> None:
    number, column = marked(line, word)
    text = hover(desk_in(folder), TREE, folder / "mine.yaml", line=number, column=column)
    assert text is not None
    assert said in text


def test_a_word_has_a_description_in_a_file_that_is_broken_elsewhere(folder: Path) -> None:
    text, line, column = cut("tree: mine\nroot:\n  sequence:\n    - : }\n    - no|tify: { mess")
    assert "Sends the user a message" in (
        hover(desk_in(folder), text, folder / "mine.yaml", line=line, column=column) or ""
    )


@pytest.mark.parametrize("at", ["tree: mi|ne\n", "root: |\n", "root: finish # fin|ish\n", "root:\n  say: He|llo\n"])
def test_what_has_no_meaning_has_no_description(at: str, folder: Path) -> None:
    text, line, column = cut(at)
    assert hover(desk_in(folder), text, folder / "mine.yaml", line=line, column=column) is None


def shown(found: tuple[Occurrence, ...]) -> list[str]:
    return [f"{Path(each.start.file).stem}:{each.start.line}:{each.start.column}" for each in found]


DEFINED = {
    "a tree": (12, "remind", ["remind:1:7"]),
    "a key": (8, "nudges", ["mine:3:3"]),
    "a parameter": (8, "every", ["mine:5:3"]),
    "an argument": (12, "of", ["remind:6:3"]),
    "a key of the host": (8, "signal", []),
    "a kind": (7, "sequence", []),
}


@pytest.mark.parametrize(("line", "word", "places"), DEFINED.values(), ids=DEFINED)
def test_a_name_leads_to_its_declaration(line: int, word: str, places: list[str], folder: Path) -> None:
    number, column = marked(line, word)
    assert shown(definition(desk_in(folder), TREE, folder / "mine.yaml", line=number, column=column)) == places


USED = {
    "a key, in the trees that share the blackboard": (
        3,
        "nudges",
        ["mine:3:3", "mine:8:18", "mine:9:14", "mine:9:22", "mine:10:35", "remind:4:3", "remind:9:5"],
    ),
    "a parameter": (5, "every", ["mine:5:3", "mine:8:27", "mine:11:42"]),
    "an argument": (12, "of", ["remind:6:3", "remind:10:9", "mine:12:40"]),
    "a tree": (12, "remind", ["mine:12:24", "remind:1:7"]),
    "a key of the host": (9, "hint", ["mine:9:34"]),
}


@pytest.mark.parametrize(("line", "word", "places"), USED.values(), ids=USED)
def test_all_uses_of_a_name_are_found(line: int, word: str, places: list[str], folder: Path) -> None:
    number, column = marked(line, word)
    found = references(desk_in(folder), TREE, folder / "mine.yaml", line=number, column=column)
    assert [place for place in shown(found) if place.startswith(("mine", "remind"))] == places
    assert not any(place.startswith("apart") for place in shown(found))


def renamed(line: int, word: str, name: str, folder: Path, tree: str = TREE) -> dict[str, str]:
    number, column = line, tree.split("\n")[line - 1].index(word) + 2
    texts = {"mine": tree, "remind": (folder / "remind.yaml").read_text()}
    edits = rename(desk_in(folder), tree, folder / "mine.yaml", line=number, column=column, name=name)
    for edit in sorted(edits, key=lambda each: (each.start.line, each.start.column), reverse=True):
        stem = Path(edit.start.file).stem
        lines = texts[stem].split("\n")
        row = lines[edit.start.line - 1]
        lines[edit.start.line - 1] = row[: edit.start.column - 1] + edit.text + row[edit.end.column - 1 :]
        texts[stem] = "\n".join(lines)
    return texts


def test_a_key_is_renamed_in_all_files_that_share_it(folder: Path) -> None:
    texts = renamed(8, "nudges", "pushes", folder)
    text_in_quotes = "'The 😀 nudges '"
    assert texts["mine"] == TREE.replace("nudges", "pushes").replace("'The 😀 pushes '", text_in_quotes)
    assert texts["remind"] == REMIND.replace("nudges", "pushes")


def test_a_parameter_is_renamed_with_the_arguments_for_it(folder: Path) -> None:
    assert renamed(8, "every", "turns_between", folder)["mine"] == TREE.replace("every", "turns_between")
    texts = renamed(12, "of", "what", folder)
    assert texts["mine"] == TREE.replace("with: { of:", "with: { what:")
    assert texts["remind"] == REMIND.replace("of:", "what:").replace("of ==", "what ==")


def test_the_name_of_a_node_is_renamed(folder: Path) -> None:
    assert renamed(11, "again", "once-more", folder)["mine"] == TREE.replace("again", "once-more")


REFUSED = {
    "a key of the host": (8, "signal", "other", "'signal' is a key of the host"),
    "a kind": (7, "sequence", "other", "'sequence' cannot be renamed"),
    "a tree": (12, "remind", "other", "rename the file remind.yaml"),
    "to a key that exists": (8, "nudges", "turn", "'turn' is a key of the host already"),
    "to a parameter that exists": (8, "nudges", "every", "'every' is a parameter already, declared in mine.yaml"),
    "to a parameter of an included tree": (8, "nudges", "of", "'of' is a parameter already, declared in remind.yaml"),
    "to a word of expressions": (8, "nudges", "and", "'and' cannot be a name here: it is a word of expressions"),
    "to something that is no name": (8, "nudges", "New Name", "'New Name' cannot be a name here"),
    "a node to something that needs quotes": (11, "again", "a: b", "'a: b' cannot name a node"),
    "nothing": (7, ":", "other", "there is no name here"),
}


@pytest.mark.parametrize(("line", "word", "name", "why"), REFUSED.values(), ids=REFUSED)
def test_a_rename_is_refused_with_the_reason(line: int, word: str, name: str, why: str, folder: Path) -> None:
    with pytest.raises(RenameError) as refused:
        renamed(line, word, name, folder)
    assert why in str(refused.value)


def test_a_rename_is_refused_where_a_place_is_not_certain(folder: Path) -> None:
    escaped = TREE.replace("condition: nudges % every == 0", r'condition: "\x6eudges % every == 0"').replace(
        ' and signal in ["stuck"]', ""
    )
    with pytest.raises(RenameError, match=r"written with an escape at mine\.yaml:8:19"):
        renamed(3, "nudges", "pushes", folder, escaped)


def test_a_rename_is_refused_while_a_file_is_broken(folder: Path) -> None:
    (folder / "other.yaml").write_text("tree: [ nudges")
    with pytest.raises(RenameError, match=r"other.yaml has 'nudges' too, but is not valid YAML"):
        renamed(3, "nudges", "pushes", folder)
    with pytest.raises(RenameError, match="the file is not valid YAML"):
        renamed(3, "nudges", "pushes", folder, TREE + "  }")


def test_a_rename_never_changes_a_shipped_file(tmp_path: Path) -> None:
    text = "tree: mine\nblackboard: { reminders: int }\nroot:\n  subtree: use_tools\n"
    with pytest.raises(RenameError, match="the shipped tree 'use_tools' uses 'reminders' too"):
        rename(desk_in(tmp_path), text, tmp_path / "mine.yaml", line=2, column=16, name="pushes")


STYLES = {
    "plain": "condition: nudges > 1",
    "double quotes": 'condition: "nudges > 1"',
    "double quotes with an escape": r'condition: "nudges > 1 and question == \"a\""',
    "single quotes": "condition: 'nudges > 1 and question == ''it''''s'''",
    "over lines": "condition: nudges\n        > 1",
    "folded": "condition: >-\n        1 <\n        nudges",
    "literal": "condition: |\n        1 <\n        nudges",
}


@pytest.mark.parametrize("written", STYLES.values(), ids=STYLES)
def test_names_are_found_in_every_style_of_text(written: str, folder: Path) -> None:
    tree = f"tree: mine\nblackboard:\n  nudges: int\nroot:\n  sequence:\n    - {written}\n"
    assert renamed(3, "nudges", "pushes", folder, tree)["mine"] == tree.replace("nudges", "pushes")
