import pytest

from tests.support import cost

TESTS = """
import pytest

@pytest.mark.long("counts far")
def test_marked(): sum(range(100_000))

def test_unmarked(): sum(range(100_000))

def test_of_two_lines(): assert not "one\\ntwo"
"""
pytestmark = pytest.mark.long("each test is a run of pytest")
WITHOUT_A_REASON = ["long", "long()", "long('')", "long('a', 'b')", "long(reason='a')", "long(3)"]


@pytest.fixture
def lines_of(pytester, monkeypatch):
    """What a run says in which every test without the mark is too slow."""

    def run(texts, *words):
        pytester.makeini("[pytest]\nmarkers = long(reason): takes long")
        pytester.makepyfile(**texts)
        with monkeypatch.context() as patch:
            patch.setattr(cost, "QUICK_S", 0.0)
            return pytester.runpytest_inprocess("-p", "tests.support.cost", "-p", "no:asyncio", "-q", *words).outlines

    return run


def test_a_failure_is_named_at_once_and_an_unmarked_test_at_the_end(lines_of):
    lines = lines_of({"test_some": TESTS})
    at = next(number for number, line in enumerate(lines) if line.startswith("FAILED") and "test_of_two_lines" in line)
    assert lines[at].endswith("(call): AssertionError: assert not 'one\\ntwo'")
    assert not any("=" in line for line in lines[:at])
    assert {line.split("::")[1] for line in lines if " s  test_" in line} == {"test_unmarked"}


def test_an_unmarked_test_fails_beyond_the_limit(lines_of):
    failed = [line for line in lines_of({"test_some": TESTS}, "--cpu-limit", "0") if "and has no mark" in line]
    assert any(line.startswith("FAILED test_some.py::test_unmarked (call): Failed: took") for line in failed)
    assert not any("test_marked" in line for line in failed)


def test_a_mark_without_a_reason_is_an_error(lines_of):
    texts = {
        f"test_{number}": f"import pytest\n@pytest.mark.{mark}\ndef test_{number}(): pass\n"
        for number, mark in enumerate(WITHOUT_A_REASON)
    }
    lines = lines_of(texts, "-m", "not long")
    for number in range(len(WITHOUT_A_REASON)):
        assert any(f"test_{number}: the mark `long` has a reason" in line for line in lines), WITHOUT_A_REASON[number]
