"""The section of docs/domain.md on prompts agrees with the code."""

import contextlib
import io
import re
from pathlib import Path

import pytest

import prompts
from prompts import MAX_PROMPT_TOKENS, QUERY_TYPES, REQUIRED_IDS, PromptFilesError, compose, load_segments
from prompts.segment_file import KEYS, MAX_FILE_BYTES, MAX_PRIORITY, WHEN_KEYS

PAGE = (Path(__file__).parents[2] / "docs" / "domain.md").read_text(encoding="utf-8").partition("## Prompt segments")[2]


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)
    return found


def keys_of_table(heading: str) -> list[str]:
    rows = PAGE.partition(f"| {heading} |")[2].partition("\n\n")[0]
    return re.findall(r"^\| `(\w+)` \|", rows, flags=re.MULTILINE)


def test_the_example_of_a_segment_loads_and_is_included_as_the_page_says(tmp_path):
    (tmp_path / "house-rules.md").write_text(block("markdown"), encoding="utf-8")
    library = load_segments(tmp_path)
    including = [each for each in QUERY_TYPES if "house-rules" in compose(query_type=each, segments=library).included]
    assert including == ["code", "documentation"]


def test_the_example_of_a_mistake_is_what_the_loader_says(tmp_path):
    folder = tmp_path / "my-prompts"
    folder.mkdir()
    wrong = block("markdown").replace("[code, documentation]", "coed")
    (folder / "house-rules.md").write_text(wrong, encoding="utf-8")
    with pytest.raises(PromptFilesError) as caught:
        load_segments(folder)
    assert str(caught.value) == f"{tmp_path}/{block('text').strip()}"


def test_the_example_of_composing_runs_and_prints_every_segment():
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block("python"), "docs/domain.md", "exec"), {})
    assert {line.split()[0] for line in printed.getvalue().splitlines()} == set(load_segments().ids)


def test_the_tables_of_keys_are_complete():
    assert sorted(keys_of_table("key")) == sorted(KEYS)
    assert keys_of_table("condition in `when`") == list(WHEN_KEYS)


def test_the_table_of_files_is_complete():
    named = re.findall(r"`([\w-]+)\.md`", PAGE.partition("| file in")[2].partition("\n\n")[0])
    assert sorted(named) == sorted(load_segments().ids)


def test_the_numbers_on_the_page_are_those_of_the_code():
    assert f"{MAX_PROMPT_TOKENS:,} tokens in all" in PAGE
    assert f"at most {MAX_FILE_BYTES:,} bytes" in PAGE
    assert f"0 to {MAX_PRIORITY}" in PAGE
    assert all(f"`{each}`" in PAGE for each in (*QUERY_TYPES, *(f"{name}.md" for name in REQUIRED_IDS)))


def test_exported_names_are_sorted_and_complete():
    public = {
        name for name, value in vars(prompts).items() if not name.startswith("_") and not hasattr(value, "__path__")
    }
    modules = {name for name in public if type(getattr(prompts, name)).__name__ == "module"}
    assert public - modules == set(prompts.__all__)
