"""docs/control.md: its trees, tables and messages are the product's, and each recipe does what its heading says."""

import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import get_args

import pytest
import yaml

import trees
from bt_runtime import BUILTIN_KINDS, TreeLibrary
from bt_runtime.analysis.files import check_files
from bt_runtime.language.expressions.operations import FUNCTIONS
from bt_runtime.language.kind import KeyType
from oracle.agent.gathering import REASONS
from oracle.agent.nodes import AGENT_KINDS, REGISTRY
from oracle.core.chunks import Topic
from oracle.decision import AgentConfig
from oracle.features.long_conversations.compacting import Compact
from oracle.features.scenarios.files import from_yaml
from oracle.features.scenarios.judging import judge
from oracle.features.scenarios.playing import Player
from tests.acceptance.harness import CODE_QUESTION, answers, harness
from tests.oracle.agent.nodes.running import errors, tree_of

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "control.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
RIGHT = {match[1]: block for block in BLOCKS if (match := re.match(r"tree: (\w+)\n", block))}
FRAGMENTS = [block.removeprefix("# a fragment\n") for block in BLOCKS if block.startswith("# a fragment\n")]
RECIPES = dict(re.findall(r"^### (I want .+?)\n(.*?)(?=^###? |\Z)", PAGE, re.DOTALL | re.MULTILINE))
FEATURES = REGISTRY.extended([Compact.kind])


def test_every_block_is_a_whole_tree_or_marked_as_a_fragment() -> None:
    assert len(RIGHT) + len(FRAGMENTS) == len(BLOCKS)
    assert len(BLOCKS) > 10


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> TreeLibrary:
    """The trees of the page before the shipped ones."""
    folder = tmp_path_factory.mktemp("trees")
    for name, text in RIGHT.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return TreeLibrary([folder, trees.FOLDER], registry=REGISTRY)


@pytest.mark.parametrize("name", RIGHT)
def test_a_whole_tree_has_neither_mistakes_nor_warnings(name: str, library: TreeLibrary) -> None:
    report = check_files(library, [library.find(name)])
    assert (report.ok, report.warnings) == (True, ()), str(report)


@pytest.mark.parametrize("fragment", FRAGMENTS)
async def test_a_fragment_runs_in_a_sequence(fragment: str) -> None:
    async with harness([answers()]) as it:
        it.write_tree("sample", tree_of(fragment))
        answered = await it.ask(CODE_QUESTION, tree="sample")
    assert errors(answered) == []
    assert answered.reason == "completed"


# --- edits of the shipped trees


def edited(folder: Path, diffs: list[str]) -> TreeLibrary:
    """The shipped trees in a folder, with these edits."""
    folder.mkdir()
    for path in trees.FOLDER.glob("*.yaml"):
        (folder / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    for diff in diffs:
        head, *lines = diff.splitlines()
        path = folder / Path(head.removeprefix("# ").strip()).name
        source = path.read_text(encoding="utf-8").splitlines()
        old = [line[1:] for line in lines if not line.startswith("+")]
        bare = [line.partition(" #")[0].rstrip() for line in source]
        (at,) = [at for at in range(len(bare)) if bare[at : at + len(old)] == old]
        new = [line[1:] for line in lines if not line.startswith("-")]
        path.write_text("\n".join([*source[:at], *new, *source[at + len(old) :], ""]), encoding="utf-8")
    return TreeLibrary([folder], registry=FEATURES)


EDITS = {
    title: found
    for title, text in RECIPES.items()
    if (found := re.findall(r"^```diff\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
}
ALTERNATIVES = {"I want a notice when half of the time is over", "I want to offer, withhold or refuse tools"}
"""Recipes whose edits are several answers, not one; the others are applied together."""
VARIANTS = {
    f"{title} ({number})": diffs
    for title, found in EDITS.items()
    for number, diffs in enumerate([[each] for each in found] if title in ALTERNATIVES else [found], start=1)
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_edited_tree_has_neither_mistakes_nor_warnings(variant: str, tmp_path: Path) -> None:
    report = check_files(edited(tmp_path / "trees", VARIANTS[variant]), [tmp_path / "trees"])
    assert (report.ok, report.warnings) == (True, ()), str(report)


# --- what a recipe does: scenarios by the name of a tree, or of an edit

MORE = "{ text: Half., signal: need_turn }"
TALK = "question: Hello!"
LOOK = "{ calls: [search_code] }"
WRITE = "{ calls: [vault_write: { path: a.md, body: Five. }] }"
ASK_TO_WRITE = "question: Write the retry limit to a note."
BROKEN = "tools: { read_file: [{ error: No. }, { error: No. }, { error: No. }] }"
PLAYS = {
    "one_round": [
        f"model: [{LOOK}, Done.], expect: {{ reason: completed, turns: 2, calls_run: [search_code], answer: Done. }}",
        "model: [Done.], expect: { reason: completed, turns: 1 }",
    ],
    "reminding": [
        "model: [Done.], expect: { reason: completed, requests: [{ note: 'Remember: name your sources' }] }",
        f"{TALK}, model: [Hello.], expect: {{ reason: completed, requests: [{{ note: '' }}] }}",
    ],
    "I want other limits for one type of question (1)": [
        f"{TALK}, model: [{MORE}, {MORE}], expect: {{ reason: max_iterations, turns: 2 }}",
        f"model: [{MORE}, {MORE}, Done.], expect: {{ reason: completed, turns: 3 }}",
    ],
    "by_kind": [
        f"{TALK}, model: [Hello.], expect: {{ reason: completed, turns: 1 }}",
        f"model: [{LOOK}, Done.], expect: {{ reason: completed, calls_run: [search_code] }}",
    ],
    "I want to stop on a condition (1)": [
        f"""tools: {{ search_code: {{ result: R, sources: [{", ".join(f"code: a{n}.py" for n in range(20))}] }} }},
        model: [{LOOK}], expect: {{ reason: max_iterations, turns: 1, calls_run: [search_code] }}"""
    ],
    "I want to stop after two errors (1)": [
        f"""{BROKEN}, model: [{{ calls: [read_file: {{ path: a.py }}] }}, {{ calls: [read_file: {{ path: b.py }}] }}],
        expect: {{ reason: error_limit, turns: 2, answer: {{ contains: Two tool calls in a row failed. }} }}"""
    ],
    "I want a notice when half of the time is over (1)": [
        """limits: { timeout_seconds: 60 }, model: [{ text: One., signal: need_turn, delay_s: 40 }, Done.],
        expect: { reason: completed, notices: [limit_warning] }"""
    ],
    "I want a notice when half of the time is over (2)": [
        f"""limits: {{ timeout_seconds: 60 }},
        model: [{{ text: One., signal: need_turn, delay_s: 40 }}, {MORE}, Done.],
        expect: {{ reason: completed, notices: [{{ notice: Half of the time is over. }}] }}"""
    ],
    "I want a person to approve what the model writes (1)": [
        f"{ASK_TO_WRITE}, model: [{WRITE}, Done.], people: [approve], expect: {{ calls_run: [vault_write] }}",
        f"""{ASK_TO_WRITE}, model: [{WRITE}, {WRITE}, Done.], people: [{{ refuse: Not there. }}],
        expect: {{ reason: completed, calls_run: [] }}""",
    ],
    "I want an answer without more tools once a person has refused (1)": [
        f"""{ASK_TO_WRITE}, model: [{WRITE}, Not written.], people: [refuse],
        expect: {{ reason: completed, calls_run: [], answer: Not written., requests: [
        {{ nth: 2, tool_choice: none, note: {{ starts: A person refused. }} }}] }}""",
        f"""{ASK_TO_WRITE}, model: [{WRITE}, Done.], people: [approve],
        expect: {{ reason: completed, calls_run: [vault_write], requests: [{{ nth: 2, tool_choice: auto }}] }}""",
    ],
    "kept_note": [
        "model: [Done.], people: [approve], expect: { reason: completed, calls_run: [vault_write], answer: Done. }",
        'model: [Done.], people: [refuse], expect: { calls_run: [], answer: { ends: "is not in the log." } }',
        'model: [Done.], people: [expire], expect: { calls_run: [], answer: { ends: "is not in the log." } }',
    ],
    "which_branch": [
        "model: [Done.], people: [{ answer: release }], expect: { blackboard: { branch: release } }",
        "model: [Done.], people: [refuse], expect: { blackboard: { branch: main } }",
        "model: [Done.], people: [expire], expect: { reason: completed, blackboard: { branch: main } }",
    ],
    "after_build": [
        "model: [Done.], people: [{ answer: { passed: true } }], expect: { reason: completed, answer: Done. }",
        "people: [expire], expect: { answer: The build has not passed. }",
    ],
    "I want failed turns tried again (1)": [
        "model: [{ text: Half, fault: provider_overloaded }, Done.], expect: { reason: completed, turns: 1 }"
    ],
    "cheap_first": [
        f"""model: [{LOOK}, Done.], expect: {{ reason: completed, requests: [
        {{ nth: 1, model: fast }}, {{ nth: 2, model: strong }}] }}""",
        "model: [Done.], expect: { reason: completed, turns: 1 }",
    ],
    "two_phases": [
        f"""model: [{LOOK}, {{ text: That is it., signal: context_sufficient }}, {MORE}, {MORE}],
        expect: {{ reason: max_iterations, turns: 4 }}"""
    ],
    "several_searches": [
        "model: [Done.], expect: { reason: completed, calls_run: [search_code, search_code] }",
    ],
    "reflecting": [
        f"""model: [{LOOK}, One is missing., Done.], expect: {{ reason: completed, answer: Done., requests: [
        {{ nth: 3, note: {{ contains: "Your notes: One is missing." }} }}] }}"""
    ],
    "slow_notice": [
        "model: [{ text: Done., delay_s: 5 }], expect: { reason: completed, notices: [], elapsed_s: 5 }",
        """model: [{ text: Done., delay_s: 30 }], expect: { reason: completed, elapsed_s: 30, notices: [
        { notice: This takes longer than usual. }] }""",
    ],
    "I want to offer, withhold or refuse tools (1)": [
        """model: [Done.], expect: { requests: [
        { nth: 1, offers: [vault_write], lacks: [search_code] }] }"""
    ],
    "I want to offer, withhold or refuse tools (2)": [
        f"{ASK_TO_WRITE}, model: [{WRITE}, Done.], expect: {{ reason: completed, calls_run: [] }}"
    ],
    "I want the model to gather as long as it likes (1)": [
        f"model: [{LOOK}, Done.], expect: {{ reason: completed, calls_run: [search_code] }}"
    ],
}
NEEDS_A_CONVERSATION = "I want long conversations summarized (1)"
"""`tests/oracle/features/long_conversations` plays it."""


def plays() -> Iterator[object]:
    for name, all_scenarios in PLAYS.items():
        for number, scenario in enumerate(all_scenarios, start=1):
            yield pytest.param(name, scenario, id=f"{name}-{number}")


@pytest.mark.parametrize(("name", "scenario"), list(plays()))
def test_it_does_what_is_said_of_it(name: str, scenario: str, library: TreeLibrary, tmp_path: Path) -> None:
    used = edited(tmp_path / "trees", VARIANTS[name]) if name in VARIANTS else library
    tree = "oracle" if name in VARIANTS else name
    (read,) = from_yaml(f"scenarios: [{{ name: A, tree: {tree}, {scenario} }}]")
    verdict = judge(read, Player(used).play(read))
    assert verdict.passed, verdict.report("")


def test_each_recipe_and_each_tree_is_played() -> None:
    internal = {name for name, text in RIGHT.items() if "internal: true" in text}
    assert set(PLAYS) | {NEEDS_A_CONVERSATION} == VARIANTS.keys() | (RIGHT.keys() - internal)


BARE = """
tree: bare
root:
  sequence:
    - classify_query
    - compose_prompt
    - loop: { until: termination_reason, guards: [turn_budget], child: CHILD }
"""
NEAR = """
scenarios:
  - name: Three turns
    tree: bare
    limits: { max_iterations: 3 }
    model: [{ text: One., signal: need_turn }, { text: Two., signal: need_turn }, { text: Three., signal: need_turn }]
    expect:
      reason: max_iterations
      notices: NOTICES
      requests: [{ note: FIRST }, { note: { starts: SECOND } }, { note: { starts: THIRD } }]
"""


@pytest.mark.parametrize(
    ("child", "note", "notices"),
    [
        ("llm_turn", '""', "[limit_reached]"),
        ("{ sequence: [note: Be brief., warn_near_limits, llm_turn] }", "Be brief.", "[limit_warning, limit_reached]"),
    ],
    ids=["without-the-node", "with-it"],
)
def test_the_model_reads_that_a_limit_is_near_whatever_the_tree_says(
    child: str, note: str, notices: str, tmp_path: Path
) -> None:
    second, third = re.findall(r'"(This is [^"…]+?) ?…"', section("Limits and guards").replace("\n", " "))
    text = NEAR.replace("FIRST", note).replace("SECOND", json.dumps(second.replace("9 of 10", "2 of 3")))
    (read,) = from_yaml(text.replace("THIRD", json.dumps(third)).replace("NOTICES", notices))
    (tmp_path / "bare.yaml").write_text(BARE.replace("CHILD", child), encoding="utf-8")
    verdict = judge(read, Player(TreeLibrary([tmp_path, trees.FOLDER], registry=REGISTRY)).play(read))
    assert verdict.passed, verdict.report("")


def test_the_percentages_of_the_warnings_are_the_defaults() -> None:
    text = section("Limits and guards")
    for name in ("soft_warning_percent", "token_warning_percent"):
        (shown,) = re.findall(rf"`{name}` of the \w+ \((\d+)\)", text.replace("\n", " "))
        assert int(shown) == AgentConfig.model_fields[name].default


# --- the tables are complete


def section(title: str) -> str:
    """The text below a heading of the language."""
    return PAGE.split(f"### {title}\n")[1].split("\n### ")[0]


def rows(text: str) -> set[str]:
    """What the first column of tables names."""
    return set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", text, re.MULTILINE))))


def test_the_functions_of_expressions_are_all_named() -> None:
    (row,) = [line for line in PAGE.splitlines() if line.startswith("| functions")]
    assert re.findall(r"`(\w+)`", row) == list(FUNCTIONS)


def test_the_guards_are_all_named() -> None:
    assert rows(section("Limits and guards")) == {kind.name for kind in AGENT_KINDS if kind.category == "guard"}


def test_the_kinds_that_have_children_are_all_named() -> None:
    kinds = {kind.name for kind in BUILTIN_KINDS if kind.category in {"composite", "decorator"}}
    assert rows(section("Nodes")) == kinds | {"approve"}


def test_the_types_of_keys_and_the_reasons_of_gathering_are_all_named() -> None:
    assert {*get_args(KeyType), *REASONS} <= set(re.findall(r"`(\w+)`", PAGE))
    assert "notice" in get_args(Topic)


def test_every_key_that_is_named_is_one() -> None:
    (line,) = re.findall(r"writes most keys, such as (.*?)\. A tree", PAGE, re.DOTALL)
    assert set(re.findall(r"`(\w+)`", line)) <= REGISTRY.keys.keys()


def test_the_shipped_parts_and_strategies_are_all_named() -> None:
    shipped = PAGE.split("## What the shipped tree does\n")[1].split("\n## ")[0]
    parts = {path.stem for path in trees.FOLDER.glob("*.yaml")} - {"oracle"}
    text = (trees.FOLDER / "fallback.yaml").read_text(encoding="utf-8")
    assert rows(shipped) == parts | set(re.findall(r"try_strategy:\n +name: (\w+)", text))


def test_examples_are_indented_for_copying() -> None:
    for block in BLOCKS:
        assert textwrap.dedent(block) == block
        assert isinstance(yaml.safe_load(block), list | Mapping)
