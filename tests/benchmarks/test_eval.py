"""`make eval` works: against a provider that stands in for the real one, and without a key."""

import itertools
import re

import pytest

from benchmarks import eval as evaluation
from benchmarks.eval_questions import EVERYTHING, QUESTIONS
from bt_runtime import TreeLibrary
from oracle.models.anthropic import AnthropicModel
from oracle.nodes import REGISTRY
from oracle.testing import StandInProvider
from tests.acceptance.harness import answers, calls, says
from trees import FOLDER


async def run(questions) -> list[str]:
    """Evaluate with a model that looks once, then answers; as a judge it finds both answers the same."""
    look = says("", calls("search_code", query="mistakes"))
    answer = answers("In `bt_runtime/mistakes.py`: line, column and a hint.\nVERDICT: SAME", tokens=(100, 20))
    turns = itertools.chain([look], itertools.repeat(answer))
    told: list[str] = []
    async with StandInProvider(turns) as provider:
        model = AnthropicModel(api_key="test", base_url=provider.url)
        await evaluation.evaluate(model, questions, tell=told.append)
        await model.aclose()
    assert not any(request.complaint for request in provider.requests)
    return told


async def test_every_question_is_asked_under_every_control_and_every_figure_is_told() -> None:
    told = "\n".join(await run(QUESTIONS))
    compared = [question for question in QUESTIONS if question.compared]
    for control in evaluation.CONTROLS:
        assert len(re.findall(rf"^.{{16}} {control} ", told, re.MULTILINE)) >= len(compared)
    for figure in ("SC-002", "SC-003", "SC-005", "012 SC-006", "US2-1", "US2-3"):
        assert figure in told
    assert f"same {2 * len(compared)}, unclear 0" in told


async def test_the_figures_are_right_for_a_run_that_is_known() -> None:
    (question,) = [each for each in QUESTIONS if each.name == "mistakes"]
    told = await run([question])
    assert told[0].startswith("mistakes         tree        2 turns,  1 calls")
    assert "4/4 facts, completed: context_sufficient" in told[0]
    (calls_told,) = [line for line in told if "tool calls a query" in line]
    assert "tree 1, loop 0, everything 0" in calls_told
    (signals_told,) = [line for line in told if "responses with a signal" in line]
    assert "100 % (3/3)" in signals_told


def test_without_a_key_it_says_what_stays_unmeasured_and_is_no_failure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ORACLE_LLM", raising=False)
    assert evaluation.main({}) == 0
    told = capsys.readouterr().out
    assert "stay unmeasured" in told
    assert "SC-002" in told


def test_the_cost_is_bounded_before_anything_is_asked() -> None:
    assert evaluation.bound(QUESTIONS) < 1_500_000
    assert evaluation.bound(QUESTIONS[:1]) == 3 * evaluation.TOKENS_PER_QUERY + 2 * evaluation.TOKENS_PER_VERDICT


def test_the_baseline_is_a_tree_without_mistakes() -> None:
    library = TreeLibrary([FOLDER], registry=REGISTRY)
    assert library.read_text(EVERYTHING, name="everything").name == "everything"


@pytest.mark.parametrize("question", [pytest.param(each, id=each.name) for each in QUESTIONS])
def test_the_facts_of_a_question_are_not_in_the_question_itself(question) -> None:
    if len(question.facts) > 1:
        assert question.facts_in(question.text) < len(question.facts)
