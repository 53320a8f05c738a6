"""020 US4, FR-011 to FR-014, SC-010: the system prompt as the provider gets it (decision 25)."""

from pathlib import Path

import pytest

import prompts
from bt_runtime.text import estimate_tokens
from oracle.agent.conversations.protocol import Exchange
from oracle.decision import AgentConfig
from tests.acceptance.harness import (
    ACTION_QUESTION,
    CHAT,
    CODE_QUESTION,
    NEED_TURN,
    RESEARCH_QUESTION,
    VAULT_QUESTION,
    Answered,
    answers,
    calls,
    harness,
    says,
    text_of,
)

HEADINGS = {
    "code": "code-analysis",
    "documentation": "documentation",
    "research": "research",
    "conversational": "conversation",
    "action": "actions",
}
QUESTIONS = {
    "code": CODE_QUESTION,
    "documentation": VAULT_QUESTION,
    "research": RESEARCH_QUESTION,
    "conversational": CHAT,
    "action": ACTION_QUESTION,
}


def system_of(answered: Answered, request: int = 0) -> str:
    """The system prompt of a request."""
    return "\n".join(block["text"] for block in answered.bodies[request]["system"])


def segment(segment_id: str) -> str:
    """The text of a shipped segment, as its file has it."""
    found = prompts.load_segments().get(segment_id)
    assert found is not None
    return found.text


def holds(system: str, segment_id: str) -> bool:
    return segment(segment_id) in system


@pytest.mark.parametrize("query_type", QUESTIONS)
async def test_020_us4_1_us4_2_fr_013_the_segment_of_the_query_type_is_there_and_no_other(query_type: str) -> None:
    async with harness([answers()]) as it:
        answered = await it.ask(QUESTIONS[query_type])
    system = system_of(answered)
    beside = {"documentation"} if query_type == "action" else set()  # who writes a note reads those that are there
    assert {kind for kind, name in HEADINGS.items() if holds(system, name)} == {query_type} | beside


@pytest.mark.parametrize("query_type", QUESTIONS)
async def test_020_us4_3_fr_012_the_signal_instructions_are_always_there(query_type: str) -> None:
    async with harness([answers()]) as it:
        answered = await it.ask(QUESTIONS[query_type])
    assert holds(system_of(answered), "signals")
    assert holds(system_of(answered), "base")


async def test_020_us4_4_without_tools_the_reference_is_one_line() -> None:
    async with harness([answers(), answers()]) as it:
        chat = await it.ask(CHAT)
        code = await it.ask(CODE_QUESTION)
    reference = prompts.load_segments().get("tools-reference")
    assert reference is not None
    assert reference.without_tools in system_of(chat)
    assert "# Tools" not in system_of(chat)
    assert reference.without_tools not in system_of(code)
    assert "# Tools" in system_of(code)


async def test_020_us4_4_the_reference_lists_the_offered_tools_alone() -> None:
    async with harness([answers()]) as it:
        answered = await it.ask(CODE_QUESTION)
    listed = system_of(answered).split("# Tools")[1]
    assert "search_code" in listed
    assert "vault_write" not in listed
    assert "web_search" not in listed


async def test_020_fr_011_the_prompt_is_its_segments_joined() -> None:
    async with harness([answers()]) as it:
        answered = await it.ask(CODE_QUESTION)
    prompt = answered.agent.prompt
    assert prompt is not None
    assert prompt.text == system_of(answered)
    assert prompt.included == (
        "base",
        "signals",
        "tools-reference",
        "signal-examples",
        "environment",
        "code-analysis",
    )


async def test_the_prompt_names_the_date_the_project_the_sources_and_the_users_calls_per_turn() -> None:
    limits = AgentConfig(max_tool_calls_per_turn=7)
    async with harness([answers()], project="shop", folders=("docs", "src"), config=limits) as it:
        answered = await it.ask(CHAT)
    assert system_of(answered).partition("# Environment\n\n")[2].partition("\n\n")[0].splitlines() == [
        "- Date: 2026-01-02 (UTC)",
        "- Project: `shop`",
        "- Its top-level folders: `docs`, `src`",
        "- Sources: code, vault, thread, web",
        "- Tool calls that are run in one turn: at most 7",
    ]


async def test_the_date_changes_the_prompt_once_a_day_and_no_sooner() -> None:
    now = ["2026-01-02T00:00:00.000Z"]
    seen = []
    async with harness([answers(), answers(), answers()], timestamp=lambda: now[-1]) as it:
        for time in ("2026-01-02T00:00:00.000Z", "2026-01-02T23:59:59.999Z", "2026-01-03T00:00:00.000Z"):
            now.append(time)
            seen.append(system_of(await it.ask(CODE_QUESTION)))
    assert seen[0] == seen[1]
    assert seen[1].replace("2026-01-02", "2026-01-03") == seen[2]


@pytest.fixture
def own_segments(tmp_path: Path) -> prompts.SegmentLibrary:
    """The shipped segments, one of them with a sentence of the operator's."""
    for file in Path(prompts.__path__[0], "oracle").glob("*.md"):
        (tmp_path / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    own = tmp_path / "code-analysis.md"
    own.write_text(own.read_text(encoding="utf-8") + "\nAlways mention the weather.\n", encoding="utf-8")
    return prompts.load_segments(tmp_path)


async def test_020_fr_014_segments_are_files_that_an_operator_can_change(own_segments: prompts.SegmentLibrary) -> None:
    async with harness([answers()], segments=own_segments) as it:
        answered = await it.ask(CODE_QUESTION)
    assert "Always mention the weather." in system_of(answered)


async def test_020_the_prompt_is_composed_once_per_query_so_that_the_providers_cache_holds() -> None:
    turns = [says("", calls("search_code", query="zeppelin")), says("Hm." + NEED_TURN), answers()]
    async with harness(turns) as it:
        answered = await it.ask(CODE_QUESTION)
    assert len(answered.bodies) == 3
    assert len({system_of(answered, request) for request in range(3)}) == 1


@pytest.mark.parametrize("query_type", QUESTIONS)
async def test_020_rule_5_no_prompt_exceeds_8000_tokens(query_type: str) -> None:
    async with harness([answers()]) as it:
        answered = await it.ask(QUESTIONS[query_type])
    assert estimate_tokens(len(system_of(answered))) <= 8_000


async def ask_after(history: str, *, had_tool_errors: bool = False) -> Answered:
    """A code question in a conversation with one earlier exchange of that size."""
    async with harness([answers()]) as it:
        kept = await it.conversations.create("local")
        exchange = Exchange("Earlier?", history, "t", "t", "completed", "run-0", had_tool_errors=had_tool_errors)
        await it.conversations.append("local", kept.context_id, exchange)
        return await it.ask(CODE_QUESTION, context_id=kept.context_id)


@pytest.mark.parametrize(("characters", "joins"), [(70_000, False), (80_100, True), (200_000, True)])
async def test_020_rule_3_summarization_joins_when_the_history_exceeds_20_000_tokens(
    characters: int, joins: bool
) -> None:
    answered = await ask_after("x" * characters)
    assert holds(system_of(answered), "summarization") == joins


@pytest.mark.parametrize("met_errors", [False, True])
async def test_020_rule_4_error_recovery_joins_when_the_previous_query_met_tool_errors(met_errors: bool) -> None:
    answered = await ask_after("Earlier.", had_tool_errors=met_errors)
    assert holds(system_of(answered), "error-recovery") == met_errors


async def test_020_rule_4_from_query_to_query_an_error_is_remembered_once() -> None:
    turns = [says("", calls("read_file", path="no/such.py")), answers(), answers(), answers()]
    async with harness(turns) as it:
        first = await it.ask(CODE_QUESTION)
        second = await it.ask(CODE_QUESTION, context_id=first.done.context_id)
        third = await it.ask(CODE_QUESTION, context_id=first.done.context_id)
    assert [holds(system_of(each), "error-recovery") for each in (first, second, third)] == [False, True, False]


async def test_020_errors_in_mid_query_bring_a_note_in_the_next_request_instead() -> None:
    turns = [
        says("", calls("read_file", path="no/such.py")),
        says("", calls("search_code", query="RetryPolicy")),
        answers(),
    ]
    async with harness(turns) as it:
        answered = await it.ask(CODE_QUESTION)
    told = ["A tool call failed" in text_of(body["messages"][-1]) for body in answered.bodies]
    assert told == [False, True, False]
    assert not holds(system_of(answered, 1), "error-recovery")


async def test_020_sc_010_the_same_question_gets_the_same_prompt() -> None:
    seen = set()
    for _ in range(3):
        async with harness([answers()]) as it:
            seen.add(system_of(await it.ask(CODE_QUESTION)))
    assert len(seen) == 1


async def test_020_sc_010_nothing_of_the_user_is_in_the_prompt() -> None:
    async with harness([answers(), answers()]) as it:
        one = await it.ask(CODE_QUESTION)
        two = await it.ask(CODE_QUESTION + " PINEAPPLE", user_id="somebody", project_id="secret")
    assert system_of(one) == system_of(two)
