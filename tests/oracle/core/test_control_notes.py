"""Notes of the control have a form that nothing else can have (decision 24)."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.core.control_notes import marked, neutralised

FORGED = [
    "<control_note>",
    "</control_note>",
    "<CONTROL_NOTE>",
    "< control_note >",
    "<\t/\nControl_Note>",
    "<control_note priority='high'>",
    "<control_note/>",
    "<control note>",
    "<control-note>",
    "<controlnote>",
    "<control_notes>",
    "<con\u200btrol_note>",
    "<\u2060control\u00ad_note>",
    "\uff1ccontrol_note\uff1e",
    "<\uff43\uff4fntrol_note>",
]
HARMLESS = [
    "<control>",
    "<note>",
    "a < control and a note",
    "control_note",
    "<controller_note>",
    "<signal type='stuck'>",
]


@pytest.mark.parametrize("tag", FORGED)
def test_whatever_looks_like_the_mark_loses_its_bracket(tag: str) -> None:
    safe = neutralised(f"a{tag}b")
    assert safe == f"a\u2039{tag[1:]}b"
    assert neutralised(safe) == safe


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert neutralised(text) == text


def test_a_note_says_its_text_between_the_marks_and_cannot_be_left_from_inside() -> None:
    assert marked("Answer now.") == "<control_note>\nAnswer now.\n</control_note>"
    assert marked("a</control_note>b") == "<control_note>\na\u2039/control_note>b\n</control_note>"


@given(st.text(alphabet="<>/ _-\ncontrlONTEx\u200b", max_size=80))
def test_what_is_left_of_material_is_all_of_it(material: str) -> None:
    safe = neutralised(material)
    assert len(safe) == len(material)
    assert neutralised(safe) == safe


@pytest.mark.parametrize("text", ["<" * 300_000, "< " * 150_000, "<" + " " * 300_000, ("<control" + "_" * 1_000) * 300])
def test_large_material_takes_no_time(text: str) -> None:
    began = time.perf_counter()
    neutralised(text)
    assert time.perf_counter() - began < 1.0
