"""Every example of docs/trees.md is right, and does what the page says."""

import re
import textwrap
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

import trees
from bt_runtime import BUILTIN_KINDS, TreeFileError, TreeLibrary
from bt_runtime.analysis.files import check_files
from bt_runtime.language.expressions.operations import FUNCTIONS
from bt_runtime.language.kind import KeyType
from oracle.agent.nodes import AGENT_KINDS, REGISTRY
from oracle.core.chunks import Topic
from oracle.features.scenarios.files import from_yaml
from oracle.features.scenarios.model import PersonDecides, PersonsDecision, Scenario, Turn
from oracle.features.scenarios.playing import Player
from oracle.testing import ScriptedCall, ScriptedTurn
from oracle.tools import arguments_line, project_tools, vault_tools
from tests.acceptance.harness import CHAT, CODE_QUESTION, Answered, answers, calls, harness, says, signal_xml
from tests.oracle.agent.nodes.running import errors, tree_of

PAGE = (Path(__file__).parents[1] / "docs" / "trees.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
WHOLE = {match[1]: block for block in BLOCKS if (match := re.match(r"tree: (\w+)\n", block))}
RIGHT = {name: text for name, text in WHOLE.items() if name != "broken"}
FRAGMENTS = [block.removeprefix("# a fragment\n") for block in BLOCKS if block.startswith("# a fragment\n")]
LOOK = says("Looking.", calls("search_code", query="RetryPolicy"))


async def run(name: str, turns: list[ScriptedTurn], question: str = CODE_QUESTION) -> Answered:
    """Run a tree of the page, with the others in the same folder."""
    async with harness(turns) as it:
        for each, text in RIGHT.items():
            it.write_tree(each, text)
        answered = await it.ask(question, tree=name)
    assert errors(answered) == []
    return answered


def test_every_block_is_a_whole_tree_or_marked_as_a_fragment() -> None:
    assert len(WHOLE) + len(FRAGMENTS) == len(BLOCKS)
    assert len(BLOCKS) > 10


@pytest.mark.parametrize("name", RIGHT)
def test_a_whole_tree_has_no_mistake(name: str, tmp_path: Path) -> None:
    for each, text in RIGHT.items():
        (tmp_path / f"{each}.yaml").write_text(text, encoding="utf-8")
    report = check_files(TreeLibrary([tmp_path, trees.FOLDER], registry=REGISTRY), [tmp_path / f"{name}.yaml"])
    assert (report.ok, report.warnings) == (True, ()), str(report)


@pytest.mark.parametrize("name", sorted(RIGHT.keys() - {"remind", "nudge", "turn_loop", "reminded_turn"}))
async def test_a_whole_tree_answers_a_question(name: str) -> None:
    answered = await run(name, [answers() for _ in range(4)])
    assert answered.reason == "completed"
    assert answered.answer.startswith("This is the answer.")


@pytest.mark.parametrize("fragment", FRAGMENTS)
async def test_a_fragment_runs_in_a_sequence(fragment: str) -> None:
    async with harness([answers()]) as it:
        it.write_tree("sample", tree_of(fragment))
        answered = await it.ask("Where is the retry policy of the code?", tree="sample")
    assert errors(answered) == []
    assert answered.reason == "completed"


def test_the_mistakes_on_the_page_are_those_reported() -> None:
    (shown,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    library = TreeLibrary([trees.FOLDER], registry=REGISTRY)
    with pytest.raises(TreeFileError) as caught:
        library.read_text(WHOLE["broken"], file="broken.yaml", name="broken")
    assert str(caught.value).strip() == shown.strip()


def test_the_tools_on_the_page_are_those_that_there_are(tmp_path: Path) -> None:
    (table,) = re.findall(r"<!-- tools -->\n(.*?)<!-- /tools -->", PAGE, re.DOTALL)
    shown = {
        name: ", ".join(re.findall(r"`([^`]+)`", text))
        for name, text in re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE)
    }
    tools = (*project_tools(tmp_path), *vault_tools(tmp_path, now=lambda: "2026-01-01T00:00:00Z"))
    assert shown == {tool.name: arguments_line(tool.input_schema) for tool in tools}


# --- the examples do what is said of them


async def test_the_smallest_tree_uses_no_tools() -> None:
    answered = await run("one_turn", [answers()])
    assert answered.bodies[0]["tool_choice"] == {"type": "none"}


async def test_the_tree_of_steps_runs_tools_between_its_turns() -> None:
    answered = await run("step_by_step", [LOOK, answers()])
    assert [call.name for call in answered.calls] == ["search_code"]
    assert answered.bodies[1]["tool_choice"] == {"type": "none"}
    assert answered.answer == "Looking.\n\nThis is the answer."


async def test_the_tree_of_steps_names_the_blocker() -> None:
    stuck = signal_xml("stuck", attempted="a", blocker="the lock")
    answered = await run("step_by_step", [says("No." + stuck)])
    assert answered.answer == "No.\n\nI could not get further: the lock."


async def test_the_stricter_limits_hold() -> None:
    more = [says(f"Part {n}." + signal_xml("need_turn", reason=str(n))) for n in range(6)]
    answered = await run("strict", more)
    assert answered.last_sentence == "Stopped: iteration limit reached (6/6)."
    assert "This is the last turn that the limits allow." in str(answered.bodies[5]["messages"][-1])


async def test_the_reminder_comes_every_second_turn() -> None:
    more = [says(f"Part {n}." + signal_xml("need_turn", reason=str(n))) for n in range(4)]
    answered = await run("reminding", [*more, answers()])
    reminded = ["Remember: name your sources" in str(body["messages"][-1]) for body in answered.bodies]
    assert reminded == [False, False, True, False, True]


async def test_the_nudge_counts_in_a_key_of_its_own() -> None:
    answered = await run("nudged", [answers(), answers()])
    assert ["Anything else?" in str(body["messages"][-1]) for body in answered.bodies] == [False, True]


async def test_the_switch_asks_for_files_and_lines_where_the_question_is_about_code() -> None:
    answered = await run("choosing", [answers()])
    assert "Name files and lines." in str(answered.bodies[0]["messages"][-1])


async def test_both_words_are_searched_for_before_the_first_turn() -> None:
    answered = await run("several_searches", [answers()])
    searched = [chunk.tool_call.arguments["query"] for chunk in answered.chunks if chunk.type == "tool_call"]
    assert searched == ["retry", "backoff"]


async def test_the_reflection_is_invisible_and_sent_to_the_model() -> None:
    answered = await run("reflecting", [LOOK, says("One is missing."), answers()])
    assert answered.answer == "Looking.\n\nThis is the answer."
    assert "Your notes: One is missing." in str(answered.bodies[2]["messages"][-1])


async def test_the_tree_that_looks_first_searches_before_the_first_turn() -> None:
    answered = await run("looking_first", [answers()], question="Where is RetryPolicy defined in the code?")
    assert answered.types[0] == "tool_call"
    assert "A first search brought this" in str(answered.bodies[0]["messages"][-1])


async def test_the_strong_model_answers_where_the_cheap_one_called_tools() -> None:
    answered = await run("cheap_first", [LOOK, answers()])
    assert [body["model"] for body in answered.bodies] == ["claude-haiku-4-5", "claude-sonnet-5-5"]


async def test_withheld_tools_are_not_offered() -> None:
    answered = await run("without_code", [answers()])
    assert not {"search_code", "read_file", "list_files"} & {tool["name"] for tool in answered.bodies[0]["tools"]}


@pytest.mark.parametrize(("decision", "runs"), [("approve", ["vault_write"] * 2), ("refuse", [])])
async def test_a_tool_that_writes_and_a_step_of_the_tree_wait_for_an_approval(
    decision: PersonsDecision, runs: list[str], tmp_path: Path
) -> None:
    (tmp_path / "asking_before_writing.yaml").write_text(RIGHT["asking_before_writing"])
    scenario = Scenario(
        name="It asks",
        tree="asking_before_writing",
        question="Write the retry limit to a note.",
        model=(Turn(calls=(ScriptedCall("vault_write", {"path": "a.md", "body": "Five."}),)), Turn(text="Done.")),
        people=(PersonDecides(decision=decision), PersonDecides(decision=decision)),
    )
    played = await Player(TreeLibrary([tmp_path, trees.FOLDER], registry=REGISTRY)).play_async(scenario)
    assert [name for name, _ in played.tool_runs] == runs
    assert played.answer.text == ("Done." if runs else "Done.\n\nThe question is not in the log.")


MORE = {"text": "Half.", "signal": "need_turn"}


@pytest.mark.parametrize(
    ("question", "model", "turns"),
    [
        (CHAT, [MORE, MORE], 2),
        (
            CODE_QUESTION,
            [{"calls": ["search_code"]}, {"text": "That is it.", "signal": "context_sufficient"}, MORE, MORE],
            4,
        ),
    ],
)
async def test_limits_of_turns_count_the_whole_query(
    question: str, model: list[Any], turns: int, tmp_path: Path
) -> None:
    """Talk has two turns; after a search of two turns there are two for the answer."""
    (tmp_path / "two_phases.yaml").write_text(RIGHT["two_phases"])
    text = yaml.safe_dump(
        {"scenarios": [{"name": "A", "tree": "two_phases", "question": question, "model": model, "expect": {}}]}
    )
    (scenario,) = from_yaml(text)
    played = await Player(TreeLibrary([tmp_path, trees.FOLDER], registry=REGISTRY)).play_async(scenario)
    assert played.done is not None
    assert (played.done.termination_reason, played.done.turns) == ("max_iterations", turns)


@pytest.mark.parametrize(("question", "tools"), [(CHAT, False), (CODE_QUESTION, True)])
async def test_the_tree_by_kind_answers_chat_without_tools(question: str, tools: bool) -> None:
    answered = await run("by_kind", [answers()], question=question)
    assert ("tools" in answered.bodies[0]) == tools


# --- the tables are complete


def section(title: str) -> str:
    """The text below a heading."""
    return PAGE.split(f"## {title}\n")[1].split("\n## ")[0]


def test_the_table_of_keys_is_complete() -> None:
    listed = re.search(r"<!-- keys -->\n(.*?)<!-- /keys -->", PAGE, re.DOTALL)
    assert listed is not None
    rows = [f"| `{key.name}` | {key.type} | {key.description} |" for key in REGISTRY.keys.values()]
    assert listed[1].splitlines()[2:] == rows


def test_the_functions_of_expressions_are_all_named() -> None:
    (row,) = [line for line in section("Expressions").splitlines() if line.startswith("| functions")]
    assert re.findall(r"`(\w+)`", row) == list(FUNCTIONS)


def test_the_guards_are_all_named() -> None:
    named = re.findall(r"^\| `(\w+)` \|", section("When a query stops"), re.MULTILINE)
    assert named == [kind.name for kind in AGENT_KINDS if kind.category == "guard"]


def test_the_kinds_that_have_children_are_all_named() -> None:
    table = re.findall(r"^\| (`.*?) \|", section("Nodes"), re.MULTILINE)
    named = set(re.findall(r"`(\w+)`", " ".join(table)))
    assert named == {kind.name for kind in BUILTIN_KINDS if kind.category in {"composite", "decorator"}}


def test_the_types_of_keys_and_the_topics_of_notifications_are_all_named() -> None:
    named = set(re.findall(r"`(\w+)`", PAGE))
    assert set(get_args(KeyType)) <= named
    assert set(get_args(Topic)) <= named


def test_examples_are_indented_for_copying() -> None:
    for block in BLOCKS:
        assert textwrap.dedent(block) == block
