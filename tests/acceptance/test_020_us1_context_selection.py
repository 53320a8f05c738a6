"""020 US1, FR-015 to FR-018: the question decides which tools are offered, and so where the agent looks first."""

import re
from itertools import count

import pytest

from oracle.classify import ResponseIntent, classify_query
from oracle.llm.offline import OfflineModel
from oracle.testing import ScriptedSearch
from oracle.tools import Tool, ToolResult
from tests.acceptance.harness import (
    CHAT,
    CODE_QUESTION,
    VAULT_QUESTION,
    Answered,
    answers,
    calls,
    harness,
    says,
    signal_xml,
    text_of,
    tool_results_of,
)
from tests.acceptance.requests import can_call

WEATHER = "What's the weather in Paris?"
AUTH = "How does the auth middleware work?"
CACHING = "What did we decide about caching?"
THANKS = "Thanks, that helps!"

CODE_TOOLS = {"search_code", "read_file", "list_files"}
NOTE_TOOLS = {"vault_search", "vault_read", "vault_list", "thread_read", "thread_seek"}
PROJECT_TOOLS = CODE_TOOLS | NOTE_TOOLS
READING_TOOLS = PROJECT_TOOLS | {"web_search"}
WRITING_TOOLS = {"vault_write", "thread_push"}


def offered(answered: Answered, request: int = 0) -> set[str]:
    """The tools of a request as the provider saw them."""
    return {tool["name"] for tool in answered.bodies[request].get("tools", ())}


def system_of(answered: Answered) -> str:
    """The system prompt of the first request."""
    text: str = answered.bodies[0]["system"][0]["text"]
    return text


# --- which tools the provider is offered


async def test_020_us1_1_a_question_about_the_world_is_offered_the_providers_web_search_alone() -> None:
    async with harness([answers("Sunny.")]) as it:
        answered = await it.ask(WEATHER)
    (tool,) = answered.bodies[0]["tools"]
    assert tool["name"] == "web_search"
    assert tool["type"].startswith("web_search_2")


async def test_020_us1_2_a_question_about_code_is_to_be_looked_up_in_the_code_first_and_not_on_the_web() -> None:
    async with harness([answers()]) as it:
        answered = await it.ask(AUTH)
    assert offered(answered) == PROJECT_TOOLS
    assert re.findall(r"Look first in [^:]*", system_of(answered)) == ["Look first in the source code"]


async def test_020_us1_3_a_question_about_decisions_is_to_be_looked_up_in_vault_and_threads_first() -> None:
    async with harness([answers()]) as it:
        answered = await it.ask(CACHING)
    assert offered(answered) == PROJECT_TOOLS
    assert re.findall(r"Look first in [^:]*", system_of(answered)) == ["Look first in the notes and threads"]


async def test_020_us1_4_thanks_are_offered_no_tools_and_a_reference_of_one_line() -> None:
    async with harness([answers("You're welcome.")]) as it:
        answered = await it.ask(THANKS)
    assert "tools" not in answered.bodies[0]
    assert can_call(answered.bodies[0])
    system = answered.bodies[0]["system"][0]["text"]
    assert "At the start no tools are offered for this message" in system
    assert "search_code" not in system
    assert answered.reason == "completed"
    assert answered.calls == []


async def test_020_us1_4_a_tool_that_the_model_calls_all_the_same_is_not_run() -> None:
    async with harness([says("", calls("search_code", query="x")), answers("You're welcome.")]) as it:
        answered = await it.ask(THANKS)
    assert answered.results[0].is_error
    assert "Offered: none" in answered.results[0].tool_result
    assert answered.reason == "completed"


# --- where the offline model looks first


@pytest.mark.parametrize(
    ("question", "first"), [(AUTH, "search_code"), (CACHING, "vault_search")], ids=["code", "decisions"]
)
async def test_020_us1_2_and_3_the_offline_model_looks_there_first(question: str, first: str) -> None:
    async with harness(model=OfflineModel()) as it:
        answered = await it.ask(question)
    assert answered.calls[0].name == first
    wrong = CODE_TOOLS if first == "vault_search" else NOTE_TOOLS
    in_first_turn = [call.name for call in answered.calls[: 2 if first == "vault_search" else 1]]
    assert not wrong & set(in_first_turn)


@pytest.mark.parametrize("question", [WEATHER, THANKS], ids=["weather", "thanks"])
async def test_020_us1_1_and_4_the_offline_model_searches_neither_code_nor_vault(question: str) -> None:
    async with harness(model=OfflineModel()) as it:
        answered = await it.ask(question)
    assert answered.calls == []
    assert answered.reason == "completed"


# --- FR-015, FR-016: classification comes first, and chooses


async def test_020_fr_015_the_question_is_classified_before_anything_is_asked_of_the_model() -> None:
    async with harness([answers()]) as it:
        answered = await it.ask(AUTH)
    paths = answered.recording.paths
    visited = [paths[index] for record in answered.recording for index in record.visited]
    classified = next(at for at, path in enumerate(visited) if path.endswith("classify_query"))
    spoken = next(at for at, path in enumerate(visited) if path.endswith("llm_turn"))
    assert classified < spoken
    assert answered.agent.classification is not None
    assert answered.agent.classification.query_type == "code"


async def test_020_fr_016_a_request_to_write_is_offered_the_writing_tools() -> None:
    async with harness([answers()]) as it:
        answered = await it.ask("Write a note about the release plan into the vault.")
    assert offered(answered) == PROJECT_TOOLS | WRITING_TOOLS


@pytest.mark.parametrize("question", [WEATHER, AUTH, CACHING, THANKS, VAULT_QUESTION])
async def test_020_fr_016_no_other_question_is_offered_a_writing_tool(question: str) -> None:
    async with harness([answers()]) as it:
        answered = await it.ask(question)
    assert not offered(answered) & WRITING_TOOLS


def doubtful_question() -> str:
    """A question whose classification is below 0.6, between two types that have tools."""
    candidates = ["How does caching of the session work?", "Tell me about the login", "caching", "sessions and deploys"]
    for text in candidates:
        found = classify_query(text)
        if found.confidence < 0.6 and {found.query_type, found.second_type} <= {"code", "documentation", "research"}:
            return text
    pytest.fail("none of the candidates is doubtful any more; find another one")


async def test_020_fr_016_a_doubtful_question_keeps_the_search_in_project_and_vault_besides() -> None:
    question = doubtful_question()
    found = classify_query(question)
    async with harness([answers()]) as it:
        answered = await it.ask(question)
    assert offered(answered) >= CODE_TOOLS | {"vault_search", "vault_read", "vault_list"}
    assert ("web_search" in offered(answered)) == found.needs_web


@pytest.mark.parametrize("question", ["How do refunds work?", "How do I install it?", "What is a guard?"])
async def test_020_fr_016_a_question_about_an_unknown_subject_keeps_the_search_in_project_and_vault(
    question: str,
) -> None:
    async with harness([answers()]) as it:
        answered = await it.ask(question)
    assert offered(answered) >= CODE_TOOLS | {"vault_search", "vault_read", "vault_list"}
    assert not offered(answered) & WRITING_TOOLS


# --- FR-017: the sources that were tried; empty results widen the search


async def test_020_fr_017_the_tools_and_sources_that_were_tried_are_tracked() -> None:
    turns = [
        says("", calls("search_code", query="RetryPolicy")),
        says("", calls("read_file", path="src/retry.py")),
        answers(),
    ]
    async with harness(turns) as it:
        answered = await it.ask()
    assert answered.agent.state.tools_tried == {"search_code", "read_file"}
    assert answered.agent.state.sources_tried == {"code"}


async def test_020_fr_017_a_search_that_the_provider_runs_is_tracked_as_well() -> None:
    found = ScriptedSearch("weather Paris", (("https://example.org/paris", "Paris"),))
    async with harness([answers("Sunny.", searches=(found,))]) as it:
        answered = await it.ask(WEATHER)
    assert answered.agent.state.tools_tried == {"web_search"}
    assert answered.agent.state.sources_tried == {"web"}
    assert answered.agent.state.recent_actions == ()


async def test_020_fr_017_trees_see_what_was_tried() -> None:
    async with harness([says("", calls("search_code", query="RetryPolicy")), answers()]) as it:
        answered = await it.ask()
    written = {key: value for record in answered.recording for key, value in record.writes}
    assert list(written["tools_tried"]) == ["search_code"]
    assert written["sources"] == 1


async def test_020_after_empty_results_all_reading_tools_are_offered_in_the_next_request() -> None:
    turns = [says("", calls("search_code", query="zeppelin hangar")), answers("Nothing there.")]
    async with harness(turns) as it:
        answered = await it.ask(AUTH)
    assert offered(answered, 0) == PROJECT_TOOLS
    assert offered(answered, 1) == READING_TOOLS
    told = text_of(answered.bodies[1]["messages"][-1])
    assert "More tools are offered from now on" in told
    assert "web_search(" in told


async def test_020_results_that_brought_something_leave_the_tools_as_they_are() -> None:
    turns = [says("", calls("search_code", query="RetryPolicy")), answers()]
    async with harness(turns) as it:
        answered = await it.ask()
    assert offered(answered, 1) == PROJECT_TOOLS


async def test_020_one_empty_result_beside_a_full_one_leaves_the_tools_as_they_are() -> None:
    turns = [says("", calls("search_code", query="zeppelin"), calls("search_code", query="RetryPolicy")), answers()]
    async with harness(turns) as it:
        answered = await it.ask()
    assert offered(answered, 1) == PROJECT_TOOLS


@pytest.mark.parametrize("signal", ["stuck", "need_capability"])
async def test_020_after_that_signal_beside_tool_calls_all_reading_tools_are_offered(signal: str) -> None:
    fields = (
        {"attempted": "search", "blocker": "nothing fits"}
        if signal == "stuck"
        else {"capability": "the notes", "reason": "they are not code"}
    )
    turns = [says("Hm." + signal_xml(signal, **fields), calls("search_code", query="RetryPolicy")), answers()]
    async with harness(turns) as it:
        answered = await it.ask()
    assert offered(answered, 1) == READING_TOOLS


async def test_020_a_tool_that_was_not_offered_answers_with_an_error_and_does_nothing() -> None:
    note = {"path": "hacked.md", "body": "x"}
    async with harness([says("", calls("vault_write", **note)), answers()]) as it:
        answered = await it.ask(AUTH)
        assert not (it.vault / "hacked.md").exists()
    (result,) = tool_results_of(answered.bodies[1])
    assert result["is_error"]
    assert "'vault_write' is not offered for this question" in result["content"]
    assert "search_code" in result["content"]


async def test_020_all_sources_empty_ends_in_an_acknowledged_limitation() -> None:
    """Edge case "what happens when all context sources return empty?", with a model that says so as it should."""
    stuck = signal_xml("stuck", attempted="code, notes", blocker="no source has anything about zeppelins")
    turns = [
        says("", calls("search_code", query="zeppelin")),
        says("", calls("vault_search", query="zeppelin")),
        says("I found nothing." + stuck),
        says("Still nothing." + stuck),
    ]
    async with harness(turns) as it:
        answered = await it.ask(AUTH)
    assert answered.reason == "stuck"
    assert answered.last_sentence == "Stopped: could not get further - no source has anything about zeppelins."


async def test_020_all_sources_empty_and_a_partial_answer_completes() -> None:
    partial = signal_xml("partial_answer", missing="everything about zeppelins")
    turns = [says("", calls("search_code", query="zeppelin")), says("There is nothing about it." + partial)]
    async with harness(turns) as it:
        answered = await it.ask(AUTH)
    assert answered.reason == "completed"
    assert answered.answer == "There is nothing about it."


# --- topic shifts and follow-ups


async def test_020_a_topic_shift_runs_the_assessment_anew() -> None:
    async with harness([answers(), answers(), answers()]) as it:
        first = await it.ask(CODE_QUESTION)
        second = await it.ask(WEATHER, context_id=first.done.context_id)
        third = await it.ask(CACHING, context_id=first.done.context_id)
    assert [offered(each) for each in (first, second, third)] == [PROJECT_TOOLS, {"web_search"}, PROJECT_TOOLS]


@pytest.mark.parametrize("follow_up", ["and the other one?", "yes, please", "why?"])
async def test_020_a_bare_follow_up_inherits_the_type_before(follow_up: str) -> None:
    async with harness([answers(), answers()]) as it:
        first = await it.ask(CODE_QUESTION)
        second = await it.ask(follow_up, context_id=first.done.context_id)
    assert offered(second) == PROJECT_TOOLS


async def test_020_the_same_words_without_a_conversation_are_chat() -> None:
    async with harness([answers()]) as it:
        answered = await it.ask("yes, please")
    assert offered(answered) == set()


async def test_020_thanks_in_a_conversation_inherit_nothing() -> None:
    async with harness([answers(), answers()]) as it:
        first = await it.ask(CODE_QUESTION)
        second = await it.ask(THANKS, context_id=first.done.context_id)
    assert offered(second) == set()


async def test_020_tools_that_were_added_in_one_query_are_gone_in_the_next() -> None:
    turns = [says("", calls("search_code", query="zeppelin")), answers(), answers()]
    async with harness(turns) as it:
        first = await it.ask(CODE_QUESTION)
        second = await it.ask(CODE_QUESTION, context_id=first.done.context_id)
    assert offered(first, 1) == READING_TOOLS
    assert offered(second) == PROJECT_TOOLS


# --- FR-018: the heuristic for "sufficient context"


async def test_020_fr_018_an_answer_without_a_signal_is_taken_for_sufficient() -> None:
    async with harness([says("It works like this: the middleware checks the token.")]) as it:
        answered = await it.ask(AUTH)
    assert answered.reason == "completed"
    assert len(answered.bodies) == 1


async def test_020_fr_018_the_heuristic_can_be_replaced() -> None:
    """Whoever reads responses is part of the equipment; here one that never thinks that it is enough."""

    class NeverEnough:
        name = "never-enough"

        def classify(self, text: str) -> ResponseIntent:
            return ResponseIntent("need_turn", 0.9)

    broken = says('Text.<signal type="need_turn">')
    async with harness([broken, answers()], intents=NeverEnough()) as it:
        answered = await it.ask(AUTH)
    assert len(answered.bodies) == 2


# --- nothing of it is fitted to the shipped tools


async def test_020_fr_016_a_tool_of_an_operators_own_is_offered_by_its_group() -> None:
    numbers = count(1)

    async def look(_: object) -> ToolResult:
        return ToolResult(f"Look number {next(numbers)}.")

    schema = {"type": "object", "properties": {}}
    own = Tool("look_up_symbol", "Looks a symbol up.", "To find a symbol.", schema, look, "code")
    async with harness([says("", calls("look_up_symbol")), answers()], tools=[own]) as it:
        code = await it.ask(AUTH)
    async with harness([answers("Hello.")], tools=[own]) as it:
        chat = await it.ask(CHAT)
    assert "look_up_symbol" in offered(code)
    assert code.results[0].tool_result == "Look number 1."
    assert "look_up_symbol" not in offered(chat)
