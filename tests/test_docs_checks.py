"""Every code has its section in docs/checks.md, and its examples in tests/data/checks are right."""

import re
from pathlib import Path

import pytest

import trees
from bt_runtime import TreeLibrary
from bt_runtime.analysis.files import check_files, codes_of
from oracle.agent.nodes import REGISTRY

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
CODES = codes_of(REGISTRY)
EXAMPLES = {
    path.stem: path.read_text(encoding="utf-8").split("---\n") for path in (ROOT / "tests/data/checks").glob("*.yaml")
}
WITHOUT_EXAMPLE = {
    *("duplicate-name", "invalid", "not-judged", "unknown-action", "unknown-parameter", "wrong-argument"),
}
LIBRARY = TreeLibrary([trees.FOLDER], registry=REGISTRY)


def checked(text: str, folder: Path) -> list[tuple[int, str]]:
    match = re.search(r"^tree: (\w+)$", text, re.MULTILINE)
    assert match is not None
    path = folder / f"{match[1]}.yaml"
    path.write_text(text, encoding="utf-8")
    report = check_files(LIBRARY, [path])
    return [(mistake.place.line, mistake.code) for mistake in (*report.mistakes, *report.warnings)]


def test_every_code_has_a_section_and_examples() -> None:
    assert sorted(re.findall(r"^### (.+)$", PAGE, re.MULTILINE)) == sorted(CODES)
    assert CODES.keys() - EXAMPLES.keys() == WITHOUT_EXAMPLE


PAIRS = [
    pytest.param(code, bad, good, id=f"{code}-{number}" if number else code)
    for code, trees_of_code in EXAMPLES.items()
    for number, (bad, good) in enumerate(zip(trees_of_code[::2], trees_of_code[1::2], strict=True))
]


@pytest.mark.parametrize(("code", "bad", "good"), PAIRS)
def test_a_bad_tree_has_its_warning_on_the_marked_line_and_a_good_one_none(
    code: str, bad: str, good: str, tmp_path: Path
) -> None:
    (line,) = [number for number, text in enumerate(bad.splitlines(), 1) if text.endswith("<--")]
    found = checked(re.sub(r" *(# )?<--$", "", bad, flags=re.MULTILINE), tmp_path)
    assert (line, code) in found
    assert {other for other, _ in found} == {line}
    assert checked(good, tmp_path) == []


def test_the_silence_on_the_page_is_used(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```yaml\n(tree: experiment\n.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert checked(text, tmp_path) == []


def test_codes_are_spelled_alike_and_have_a_summary_and_a_fix() -> None:
    for name, code in CODES.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)
        assert code.summary.endswith(".")
        assert code.fix.endswith(".")
