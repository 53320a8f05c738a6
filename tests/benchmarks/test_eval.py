"""`make eval`, with the stand-in provider and without a key."""

import itertools
import re

import pytest

from benchmarks import eval as evaluation
from benchmarks.eval_keeping import Turn, keeping
from benchmarks.eval_questions import QUESTIONS
from benchmarks.habits.players import LEGACY
from bt_runtime import TreeLibrary
from oracle.models.anthropic import AnthropicModel
from oracle.nodes import REGISTRY
from oracle.testing import StandInProvider
from tests.acceptance.harness import answers, calls, says
from trees import FOLDER


async def run(questions) -> list[str]:
    """Evaluate a model that searches once, then answers; as a judge it finds both answers equal."""
    look = says("", calls("search_code", query="mistakes"))
    answer = answers("In `bt_runtime/mistakes.py`: line, column and a hint.\nVERDICT: SAME", tokens=(100, 20))
    turns = itertools.chain([look], itertools.repeat(answer))
    lines: list[str] = []
    async with StandInProvider(turns) as provider:
        model = AnthropicModel(api_key="test", base_url=provider.url)
        await evaluation.evaluate(model, questions, write=lines.append)
        await model.aclose()
    assert not any(request.complaint for request in provider.requests)
    return lines


async def test_every_question_is_asked_under_every_control_and_every_figure_is_printed() -> None:
    lines = "\n".join(await run(QUESTIONS))
    compared = [question for question in QUESTIONS if question.compared]
    for control in evaluation.CONTROLS:
        assert len(re.findall(rf"^.{{16}} {control} ", lines, re.MULTILINE)) >= len(compared)
    for figure in ("SC-002", "SC-003", "SC-005", "012 SC-006", "US2-1", "US2-3"):
        assert figure in lines
    assert f"same {2 * len(compared)}, unclear 0" in lines


async def test_the_figures_of_a_known_run_are_right() -> None:
    (question,) = [each for each in QUESTIONS if each.name == "mistakes"]
    lines = await run([question])
    assert lines[0].startswith("mistakes         tree        2 turns,  1 calls")
    assert "4/4 facts, completed: context_sufficient" in lines[0]
    (tool_calls,) = [line for line in lines if "tool calls a query" in line]
    assert "tree 1, loop 0, legacy 0" in tool_calls
    (with_signal,) = [line for line in lines if "responses with a signal" in line]
    assert "100 % (3/3)" in with_signal


async def test_prompt_adherence_is_reported_by_type_of_query() -> None:
    lines = await run([each for each in QUESTIONS if each.name in {"mistakes", "thanks"}])
    (ends,) = [line for line in lines if "answers that end with one signal" in line]
    assert re.search(r" 2/2; code: 1/1; conversational: 1/1 +\(aim: 95 %\)$", ends)
    (tokens,) = [line for line in lines if "tokens of the prompt" in line]
    sizes = re.search(r"code: ([\d,]+); conversational: ([\d,]+) ", tokens)
    assert sizes is not None
    of_code, of_talk = (int(size.replace(",", "")) for size in sizes.groups())
    assert 1_500 < of_talk < of_code < 8_000


SIGNAL = '<signal type="partial_answer"><missing>m</missing><confidence>0.9</confidence></signal>'
TURNS = {
    "as asked": (f"Text.\n\n{SIGNAL}\n", (True, False, False)),
    "none": ("Text.", (False, False, False)),
    "text after it": (f"{SIGNAL} Text.", (False, False, False)),
    "two": (f"{SIGNAL}\n{SIGNAL}", (False, False, False)),
    "malformed": ('Text.\n<signal type="stuck"></signal>', (False, False, False)),
    "in a fence": (f"Text.\n```xml\n{SIGNAL}\n```", (False, False, False)),
    "a question": (f"Which one do you *mean?*\n\n{SIGNAL}", (True, True, False)),
    "a question and an answer": (f"Why? Because.\n\n{SIGNAL}", (True, False, False)),
    "the control's sentence": (f"Half.\n\nStopped: time limit reached.\n\n{SIGNAL}", (True, False, True)),
}


@pytest.mark.parametrize(("text", "found"), TURNS.values(), ids=TURNS)
def test_a_turn_is_checked_against_the_prompt(text, found) -> None:
    turn = Turn(text, calls=0, prompt_tokens=1)
    assert (turn.ends_with_its_signal, turn.asks_the_user, turn.says_stopped) == found


def test_the_figures_of_prompt_adherence_are_right() -> None:
    asks = Turn(f"Which?\n\n{SIGNAL}", calls=0, prompt_tokens=3_000)
    wrong = Turn('Which?\n<signal type="need_turn"><reason>r</reason></signal>', calls=0, prompt_tokens=3_000)
    looks = Turn("Stopped: no.", calls=1, prompt_tokens=4_000)
    code = frozenset({"code"})
    figures = {
        name: figure
        for name, figure, _ in keeping(
            [
                ("code", code, code, [looks, asks]),
                ("code", code, frozenset(), [wrong]),
                ("conversational", frozenset(), frozenset(), [asks]),
                ("action", None, frozenset(), [asks]),
            ]
        )
    }
    assert figures == {
        "prompt: answers that end with one signal": "4/4; action: 1/1; code: 2/2; conversational: 1/1",
        "prompt: questions to the user: partial_answer": "3/4; action: 1/1; code: 1/2; conversational: 1/1",
        "prompt: `Stopped:` written by the model": "1; action: 0; code: 1; conversational: 0",
        "prompt: tools called where needed": "1/2; action: -; code: 1/2; conversational: -",
        "prompt: none called where not": "1/1; action: -; code: -; conversational: 1/1",
        "prompt: tokens of the prompt": "3,250; action: 3,000; code: 3,500; conversational: 3,000",
    }


def test_without_a_key_it_lists_what_remains_unmeasured_and_succeeds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ORACLE_LLM", raising=False)
    assert evaluation.main({}) == 0
    lines = capsys.readouterr().out
    assert "stay unmeasured" in lines
    assert "SC-002" in lines


def test_the_cost_has_an_upper_bound() -> None:
    assert evaluation.bound(QUESTIONS) < 1_500_000
    assert evaluation.bound(QUESTIONS[:1]) == 3 * evaluation.TOKENS_PER_QUERY + 2 * evaluation.TOKENS_PER_VERDICT


def test_the_baseline_is_a_tree_without_mistakes() -> None:
    library = TreeLibrary([FOLDER], registry=REGISTRY)
    assert library.read_text(LEGACY, name="legacy").name == "legacy"


@pytest.mark.parametrize("question", [pytest.param(each, id=each.name) for each in QUESTIONS])
def test_the_facts_of_a_question_are_not_in_the_question_itself(question) -> None:
    if len(question.facts) > 1:
        assert question.facts_in(question.text) < len(question.facts)
