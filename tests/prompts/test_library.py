"""Loading prompt files: the package's, an operator's over them, and every mistake that a file can contain."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bt_runtime.text import Mistake, format_mistakes
from prompts import (
    REQUIRED_IDS,
    PromptError,
    PromptFilesError,
    Segment,
    compose,
    load_segments,
)
from prompts.segment import SegmentCondition
from prompts.segment_file import MAX_FILE_BYTES, read_segment

BUILT_IN = Path(__file__).parents[2] / "prompts" / "oracle"
NAMES_IN_020 = (
    "base",
    "signals",
    "tools-reference",
    "code-analysis",
    "documentation",
    "research",
    "conversation",
    "actions",
    "summarization",
    "error-recovery",
)
OTHERS = ("environment", "signal-examples")


def a_file(*, front="id: extra\ndescription: One idea.\npriority: 55\nalways: true", body="# Extra\n\nText.") -> str:
    return f"---\n{front}\n---\n{body}\n"


def mistakes_of(text: str | bytes) -> list[Mistake]:
    result = read_segment(text if isinstance(text, bytes) else text.encode(), file="extra.md")
    assert not isinstance(result, Segment), result
    return list(result)


def error_of(folder: Path) -> str:
    with pytest.raises(PromptFilesError) as caught:
        load_segments(folder)
    return str(caught.value)


def test_020_fr_014_each_prompt_deliverable_is_a_file_of_its_own():
    assert {path.stem for path in BUILT_IN.iterdir()} == {*NAMES_IN_020, *OTHERS}
    assert set(load_segments().ids) == {*NAMES_IN_020, *OTHERS}


def test_every_built_in_segment_begins_with_its_heading_and_says_what_it_is_for():
    for segment in load_segments():
        assert segment.text.startswith("# ")
        assert segment.description.endswith(".")


def test_an_operators_file_overrides_one_and_the_others_are_the_packages(tmp_path):
    (tmp_path / "research.md").write_text(
        a_file(
            front="id: research\ndescription: Ours.\npriority: 50\nwhen: {query_type: research}",
            body="Ask the library.",
        )
    )
    library = load_segments(tmp_path)
    prompt = compose(query_type="research", segments=library)
    assert prompt.text.endswith("\n\nAsk the library.")
    assert set(library.ids) == set(load_segments().ids)
    assert library.get("base") == load_segments().get("base")


def test_an_operators_file_of_a_new_name_is_one_more_segment(tmp_path):
    (tmp_path / "extra.md").write_text(a_file())
    assert "extra" in compose(query_type="code", segments=load_segments(tmp_path)).included


def test_an_operators_subfolder_named_as_in_020_is_read(tmp_path):
    (tmp_path / "oracle").mkdir()
    (tmp_path / "oracle" / "extra.md").write_text(a_file())
    assert "extra" in load_segments(tmp_path).ids


def test_prompt_files_beside_the_subfolder_are_an_error(tmp_path):
    (tmp_path / "oracle").mkdir()
    (tmp_path / "extra.md").write_text(a_file())
    assert "lie both here (extra.md) and in the subfolder 'oracle'" in error_of(tmp_path)


def test_a_complete_copy_of_the_built_in_files_gives_the_same_prompts(tmp_path):
    shutil.copytree(BUILT_IN, tmp_path / "copy")
    copied = load_segments(tmp_path / "copy")
    for query_type in ("code", "action"):
        assert compose(query_type=query_type, segments=copied).text == compose(query_type=query_type).text


def test_an_empty_folder_changes_nothing(tmp_path):
    assert load_segments(tmp_path) == load_segments()


def test_other_files_and_hidden_ones_are_ignored(tmp_path):
    (tmp_path / "notes.txt").write_text("not a prompt")
    (tmp_path / "base.md~").write_text("an editor's copy")
    (tmp_path / "._base.md").write_bytes(b"\x00\xff")
    assert load_segments(tmp_path) == load_segments()


def test_a_byte_order_mark_and_windows_line_ends_make_no_difference():
    plain = read_segment(a_file().encode(), file="extra.md")
    windows = read_segment(b"\xef\xbb\xbf" + a_file().replace("\n", "\r\n").encode(), file="extra.md")
    assert windows == plain
    assert isinstance(plain, Segment)


def test_all_keys_are_read():
    when = "query_type: [action, code], history_tokens_over: 9, previous_errors: false, roomy: true"
    front = f"id: extra\ndescription: One.\npriority: 7\nwhen: {{{when}}}\nroomy_from: Text."
    assert read_segment(a_file(front=front, body="# Extra\n\nText.\n\nMore.").encode(), file="extra.md") == Segment(
        id="extra",
        description="One.",
        priority=7,
        when=SegmentCondition(query_types=("code", "action"), history_tokens_over=9, previous_errors=False, roomy=True),
        text="# Extra\n\nText.\n\nMore.",
        roomy_from="Text.",
        source="extra.md",
    )


def test_all_conditions_of_a_segment_must_hold(tmp_path):
    front = "id: extra\ndescription: One.\npriority: 7\nwhen: {query_type: code, history_tokens_over: 100}"
    (tmp_path / "extra.md").write_text(a_file(front=front))
    library = load_segments(tmp_path)
    included = [
        "extra" in compose(query_type=query_type, history_tokens=tokens, segments=library).included
        for query_type, tokens in [("code", 101), ("code", 100), ("action", 101)]
    ]
    assert included == [True, False, False]


def test_a_thematic_break_in_the_body_is_part_of_the_body():
    segment = read_segment(a_file(body="One.\n\n---\n\nTwo.").encode(), file="extra.md")
    assert isinstance(segment, Segment)
    assert segment.text == "One.\n\n---\n\nTwo."


ALIAS_BOMB = ["a0: &a0 [x]", *(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9))]
FRONT = "id: extra\ndescription: One idea.\npriority: 55\n"
WRONG_FILES = {
    "an empty file": ("", "extra.md:1:1: the file has no front matter"),
    "no front matter": ("# Extra\n", "extra.md:1:1: the file has no front matter"),
    "front matter without end": ("---\nid: extra\n", "extra.md:1:1: the front matter does not end"),
    "empty front matter": ("---\n---\nText", "extra.md:2:1: the front matter must be a mapping"),
    "an empty mapping": ("---\n{}\n---\nText", "the front matter has no 'id'"),
    "a list": ("---\n- id\n---\nText", "extra.md:2:1: the front matter must be a mapping"),
    "broken YAML": (a_file(front=FRONT + "when: {query_type: code"), "extra.md:5:7: this is not valid YAML"),
    "a tab": (a_file(front=FRONT + "\talways: true"), "extra.md:5:1: a tab cannot indent YAML"),
    "two documents": (
        a_file(front="id: a\n...\nid: b"),
        "extra.md:4:1: this is not valid YAML: did not find expected <document start>",
    ),
    "a line break of YAML alone": (a_file(front="id: a\x85idd: b"), "extra.md:3:1: unknown front matter key 'idd'"),
    "an alias of itself": (a_file(front="id: &a [*a]"), "extra.md:2:9: the alias '*a' contains itself"),
    "an alias bomb": (a_file(front="\n".join(ALIAS_BOMB)), "extra.md:6:50: the file has more than 20,000 values"),
    "a tag": (a_file(front="id: !!python/name:os.system x"), "extra.md:2:5: the tag 'tag:yaml.org,2002:python/name:"),
    "deep nesting": (a_file(front="id: " + "[" * 1_900 + "]" * 1_900), "nested more than 100 levels deep"),
    "an impossible date": (
        a_file(front=FRONT + "always: 2024-13-45"),
        "'always' must be true or false, not '2024-13-45'",
    ),
    "a list as key": (a_file(front="? [a, b]\n: 1"), "extra.md:2:3: a key must be text, not a list or mapping"),
    "a key given twice": (
        a_file(front=FRONT + "always: true\nid: other"),
        "extra.md:6:1: duplicate key 'id', first on line 2",
    ),
    "no id": (a_file(front="description: One.\npriority: 1\nalways: true"), "the front matter has no 'id'"),
    "no description": (a_file(front="id: extra\npriority: 1\nalways: true"), "the front matter has no 'description'"),
    "no priority": (a_file(front="id: extra\ndescription: One.\nalways: true"), "the front matter has no 'priority'"),
    "an unknown key": (
        a_file(front=FRONT + "allways: true\nalways: true"),
        "extra.md:5:1: unknown front matter key 'allways'\n    5 | allways: true\n      | ^\nhint: did you mean 'al",
    ),
    "neither always nor when": (a_file(front=FRONT), "neither 'always' nor 'when'"),
    "always and when": (a_file(front=FRONT + "always: true\nwhen: {query_type: code}"), "both 'always' and 'when'"),
    "always as text": (a_file(front=FRONT + "always: 'true'"), "'always' must be true or false, not 'true'"),
    "an id with spaces": (a_file(front="id: My Idea\ndescription: x\npriority: 1\nalways: true"), "not 'My Idea'"),
    "an id that is a number": (a_file(front="id: 7\ndescription: x\npriority: 1\nalways: true"), "'id' must be a name"),
    "an empty description": (
        a_file(front="id: a\ndescription: ''\npriority: 1\nalways: true"),
        "must be one line of text",
    ),
    "a priority in words": (a_file(front="id: a\ndescription: x\npriority: high\nalways: true"), "not 'high'"),
    "a negative priority": (a_file(front="id: a\ndescription: x\npriority: -1\nalways: true"), "from 0 to 999, not -1"),
    "a priority too large": (a_file(front="id: a\ndescription: x\npriority: 1000\nalways: true"), "not 1000"),
    "a priority that is a boolean": (a_file(front="id: a\ndescription: x\npriority: true\nalways: true"), "not true"),
    "an unknown query type": (a_file(front=FRONT + "when: {query_type: coed}"), "hint: did you mean 'code'?"),
    "an unknown type in a list": (a_file(front=FRONT + "when: {query_type: [code, web]}"), "unknown query type 'web'"),
    "an empty list of types": (a_file(front=FRONT + "when: {query_type: []}"), "'query_type' names no query type"),
    "a mapping as type": (a_file(front=FRONT + "when: {query_type: {a: 1}}"), "unknown query type"),
    "an unknown condition": (a_file(front=FRONT + "when: {querytype: code}"), "hint: did you mean 'query_type'?"),
    "a condition as text": (a_file(front=FRONT + "when: code"), "'when' must be a mapping of conditions, not 'code'"),
    "an empty condition": (a_file(front=FRONT + "when: {}"), "'when' must be a mapping of conditions, not {}"),
    "tokens as text": (a_file(front=FRONT + "when: {history_tokens_over: 20k}"), "not '20k'"),
    "negative tokens": (a_file(front=FRONT + "when: {history_tokens_over: -5}"), "0 or more, not -5"),
    "errors as number": (
        a_file(front=FRONT + "when: {previous_errors: 1}"),
        "'previous_errors' must be true or false, not 1",
    ),
    "roomy as text": (a_file(front=FRONT + "when: {roomy: large}"), "'roomy' must be true or false, not 'large'"),
    "a line that is not there": (
        a_file(front=FRONT + "always: true\nroomy_from: '## Mroe'", body="One.\n\n## More\n\nTwo."),
        "extra.md:1:1: the body has no line '## Mroe'\n    1 | ---\n      | ^\nhint: name a line of the body",
    ),
    "a line as a comment": (
        a_file(front=FRONT + "always: true\nroomy_from: ## More", body="One.\n\n## More\n\nTwo."),
        "'roomy_from' must be one line of text, not null",
    ),
    "no text": (a_file(front=FRONT + "always: true", body="  \n"), "the file has no text after its front matter"),
    "a control character": (a_file(body="One\x00two"), "extra.md:7:4: control character '\\x00'"),
    "an unknown placeholder": (a_file(body="Use {{ tool }}."), "extra.md:7:5: unknown placeholder '{{ tool }}'"),
    "an open placeholder": (a_file(body="Use {{tools}."), "unknown placeholder '{{tools'"),
    "the list elsewhere": (a_file(body="Use {{tools}}."), "{{tools}} belongs into tools-reference alone"),
    "the environment elsewhere": (a_file(body="{{environment}}"), "{{environment}} belongs into environment alone"),
    "an environment without its place": (
        a_file(front="id: environment\ndescription: x\npriority: 1\nalways: true"),
        "environment must have {{environment}} once, not 0 times",
    ),
    "a line for no tools elsewhere": (
        a_file(front=FRONT + "always: true\nwithout_tools: x"),
        "cannot have 'without_tools'",
    ),
    "a conditional required segment": (
        a_file(front="id: signals\ndescription: x\npriority: 1\nwhen: {query_type: code}"),
        "'signals' is required and cannot have a condition",
    ),
    "a reference without the list": (
        a_file(front="id: tools-reference\ndescription: x\npriority: 1\nalways: true\nwithout_tools: None."),
        "must have {{tools}} once, not 0 times",
    ),
    "a reference with two lists": (
        a_file(
            front="id: tools-reference\ndescription: x\npriority: 1\nalways: true\nwithout_tools: None.",
            body="{{tools}} {{tools}}",
        ),
        "must have {{tools}} once, not 2 times",
    ),
    "a reference without its line": (
        a_file(front="id: tools-reference\ndescription: x\npriority: 1\nalways: true", body="{{tools}}"),
        "'tools-reference' needs 'without_tools'",
    ),
    "a reference with several lines": (
        a_file(
            front='id: tools-reference\ndescription: x\npriority: 1\nalways: true\nwithout_tools: "a\\nb"',
            body="{{tools}}",
        ),
        "'without_tools' must be one line of text",
    ),
    "not UTF-8": (b"---\nid: \xff\n---\n", "extra.md:2:1: the file is not UTF-8: byte 0xff at offset 8"),
    "UTF-16": ("---\nid: a".encode("utf-16"), "the file is not UTF-8"),
    "too large": (b"x" * (MAX_FILE_BYTES + 1), "the file is larger than 64,000 bytes"),
}


@pytest.mark.parametrize(("text", "message"), WRONG_FILES.values(), ids=WRONG_FILES)
def test_a_mistake_in_a_file_is_reported_with_its_place(text, message):
    shown = text if isinstance(text, str) else text.decode(errors="replace")
    reported = [format_mistakes([mistake], {"extra.md": shown}) for mistake in mistakes_of(text)]
    assert any(message in each for each in reported), reported


def test_all_mistakes_of_all_files_are_reported_together(tmp_path):
    (tmp_path / "one.md").write_text(a_file(front="id: One\npriority: x\nallways: true"))
    (tmp_path / "two.md").write_text("no front matter")
    text = error_of(tmp_path)
    for expected in (
        "'id' must be",
        "has no 'description'",
        "'priority' must be",
        "'allways'",
        "neither",
        "two.md:1:1:",
    ):
        assert expected in text


def test_a_duplicate_id_is_an_error_that_says_how_to_override(tmp_path):
    (tmp_path / "sinals.md").write_text(a_file(front="id: signals\ndescription: x\npriority: 10\nalways: true"))
    assert "the id 'signals' is also that of" in error_of(tmp_path)
    assert "give the file its name: signals.md" in error_of(tmp_path)


@pytest.mark.parametrize("name", REQUIRED_IDS)
def test_a_required_segment_that_lost_its_id_is_missing(tmp_path, name):
    (tmp_path / f"{name}.md").write_text(a_file())
    assert f"no file has the required id {name!r}" in error_of(tmp_path)


def test_a_folder_that_does_not_exist_is_an_error(tmp_path):
    assert "the prompts folder does not exist" in error_of(tmp_path / "nowhere")


def test_a_file_in_place_of_the_folder_is_an_error(tmp_path):
    (tmp_path / "file").write_text("x")
    assert "the prompts folder is no folder" in error_of(tmp_path / "file")


def test_a_folder_in_place_of_a_file_is_an_error(tmp_path):
    (tmp_path / "base.md").mkdir()
    assert "base.md:1:1: this is not a regular file" in error_of(tmp_path)


def test_a_pipe_in_place_of_a_file_does_not_block_the_start(tmp_path):
    os.mkfifo(tmp_path / "base.md")
    assert "base.md:1:1: this is not a regular file" in error_of(tmp_path)


def test_a_dangling_link_is_an_error(tmp_path):
    (tmp_path / "base.md").symlink_to(tmp_path / "gone.md")
    assert "base.md:1:1: this is not a regular file" in error_of(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_without_read_permission_is_an_error(tmp_path):
    (tmp_path / "extra.md").write_text(a_file())
    (tmp_path / "extra.md").chmod(0)
    assert "the file cannot be read: Permission denied" in error_of(tmp_path)


def test_too_many_files_are_an_error(tmp_path):
    for number in range(201):
        (tmp_path / f"extra-{number}.md").write_text("x")
    assert "the folder has 201 prompt files, at most 200 are allowed" in error_of(tmp_path)


def test_required_segments_that_exceed_the_bound_are_an_error_when_loading(tmp_path):
    (tmp_path / "base.md").write_text(
        a_file(front="id: base\ndescription: x\npriority: 0\nalways: true", body="word " * 10_000)
    )
    with pytest.raises(
        PromptError, match=r"over the limit of 8,000 \(base 12,500, signals [\d,]+, tools-reference \d+\)"
    ):
        load_segments(tmp_path)


def assert_segment_or_mistakes(read):
    if isinstance(read, Segment):
        assert read.id
    else:
        assert read
        assert all(mistake.message for mistake in read)


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_give_a_segment_or_mistakes(data):
    assert_segment_or_mistakes(read_segment(data, file="extra.md"))


FRAGMENTS = (
    "id|when|always|priority|: |{|}|[|]|\n|  |- |!!int |&a |*a|'|\"|code|=|<<|?|~|1_0|2024-01-01|0x_|.nan|#|%|---|\x85"
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(FRAGMENTS.split("|")), max_size=30).map("".join))
def test_any_front_matter_gives_a_segment_or_mistakes(front):
    assert_segment_or_mistakes(read_segment(a_file(front=front).encode(), file="extra.md"))


def test_every_error_is_a_prompt_error():
    assert issubclass(PromptFilesError, PromptError)


@pytest.mark.parametrize("query_type", ["code", "conversational"])
def test_a_segment_that_is_never_included_by_itself_says_so(tmp_path, query_type):
    (tmp_path / "near.md").write_text(a_file().replace("always: true", "always: false"))
    library = load_segments(tmp_path)
    (use,) = [each for each in compose(query_type=query_type, segments=library).segments if each.id == "extra"]
    assert (use.included, use.reason) == (False, "only where a tree names it")
