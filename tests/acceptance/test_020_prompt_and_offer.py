"""020 FR-016, US4-4: what the prompt says is offered is what the provider is sent (decisions 23 and 25)."""

import re

import pytest

from benchmarks.bench_offers import SETS, load_questions
from tests.acceptance.harness import CHAT, CODE_QUESTION, Answered, answers, harness

NO_TOOLS = "At the start no tools are offered for this message."
QUESTIONS = [each.text for name in SETS for each in load_questions(name)[::25]]
"""Some of every labelled set, in the order of the files."""


def assert_agreement(answered: Answered) -> None:
    system = answered.bodies[0]["system"][0]["text"]
    offered = [tool["name"] for tool in answered.bodies[0].get("tools", ())]
    assert set(re.findall(r"^- `(\w+)\(", system, re.MULTILINE)) == set(offered)
    assert (NO_TOOLS in system) == (not offered)
    assert "More tools are offered" not in str(answered.bodies[0]["messages"])


async def test_020_fr_016_the_prompt_lists_the_tools_of_the_first_request_for_questions_of_every_kind() -> None:
    async with harness([answers() for _ in QUESTIONS]) as it:
        for question in QUESTIONS:
            assert_agreement(await it.ask(question))
    assert len(QUESTIONS) > 40


@pytest.mark.parametrize("node", ["offer_all_reading_tools", "withhold_tools: [read_file, web_search]"])
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("question", [CODE_QUESTION, CHAT])
async def test_020_fr_016_a_tree_that_changes_the_offer_before_the_first_turn_has_a_prompt_that_agrees(
    node: str, before: bool, question: str
) -> None:
    changed = f"- {node}\n        - compose_prompt #" if before else f"- compose_prompt\n        - {node} #"
    async with harness([answers()]) as it:
        it.edit_tree("oracle", "- compose_prompt #", changed)
        answered = await it.ask(question)
    assert_agreement(answered)
    assert answered.reason == "completed"
