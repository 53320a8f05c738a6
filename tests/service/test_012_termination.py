"""Every condition that ends a query, over HTTP: reasons, words, the three texts (012 FR-004 to FR-007, FR-011)."""

import json

import pytest

from tests.acceptance.scripts import calls, says, text_of_request
from tests.service.provider import Desk
from tests.service.queries import assert_same_answer
from tests.service.scenarios import OF_SIGNALS, REFUSED, SCENARIOS, Scenario, searching, steps
from tests.service.server import Client, under_both

pytestmark = pytest.mark.asyncio(loop_scope="session")

UNDER_BOTH = [
    pytest.param(server, scenario, id=f"{scenario.id}-{server}")
    for scenario in SCENARIOS
    for server in ("local_server", "loop_server")
    if server == "local_server" or scenario.id not in OF_SIGNALS
]
every_end = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)


@pytest.mark.parametrize(("server", "scenario"), UNDER_BOTH, indirect=["server"])
async def test_012_fr_004_each_end_has_its_reason_and_its_words_in_the_stream(
    client: Client, desk: Desk, scenario: Scenario
) -> None:
    desk.play(*scenario.replies())
    heard = await client.ask(scenario.question, limits=scenario.limits)
    assert heard.reason == scenario.reason
    if scenario.answer.endswith("."):
        assert heard.answer == scenario.answer
    else:  # it goes on with the words of an error
        assert heard.answer.startswith(scenario.answer)
        assert heard.answer.count("Stopped: ") == 1
    assert tuple(heard.messages) == scenario.messages
    assert [chunk["error_type"] for chunk in heard.of("error")] == [scenario.error_type] * bool(scenario.error_type)
    assert len(desk.requests) == scenario.requests
    kept = (await client.conversation(heard.done["context_id"]))["messages"][-1]
    assert kept["metadata"]["termination_reason"] == scenario.reason
    assert heard.done["turns"] == scenario.requests - bool(scenario.error_type)  # one that fails is none
    assert heard.done["run_id"] == heard.run_id
    if scenario.is_cut:
        await desk.wait_disconnected()


@every_end
async def test_012_fr_005_whole_answer_conversation_and_recorded_stream_are_the_same_text(
    client: Client, desk: Desk, scenario: Scenario
) -> None:
    desk.play(*scenario.replies())
    whole = await client.ask_whole(scenario.question, limits=scenario.limits)
    recorded = await client.resumed(whole["run_id"])
    assert_same_answer(recorded, whole)
    assert ("error" in whole and whole["error"] is not None) == bool(scenario.error_type)
    assert whole["termination_reason"] == scenario.reason
    await client.check_kept(recorded)
    again = await client.resumed(whole["run_id"])
    assert [event.raw for event in again.events] == [event.raw for event in recorded.events]


@under_both
async def test_012_fr_011_notices_carry_their_numbers_and_come_in_place(client: Client, desk: Desk) -> None:
    desk.play(*searching(10))
    heard = await client.ask(limits={"max_iterations": 10})
    warning, reached = heard.of("system")
    assert warning["metadata"] == {"current_value": 7, "limit_value": 10, "percent": 70, "limit_type": "iteration"}
    assert (warning["system_type"], warning["severity"]) == ("limit_warning", "warning")
    assert reached["metadata"] == {"current_value": 10, "limit_value": 10, "percent": 100, "limit_type": "iteration"}
    assert (reached["system_type"], reached["severity"]) == ("limit_reached", "error")
    assert heard.types.index("system") < heard.chunks.index({"type": "content", "content": "Step 8."})
    assert heard.types[-4:] == ["system", "content", "content", "done"]
    assert heard.done["turns"] == 10


@under_both
async def test_012_fr_009_the_turn_after_a_warning_and_those_behind_it_have_the_note(
    client: Client, desk: Desk
) -> None:
    desk.play(*searching(10))
    await client.ask(limits={"max_iterations": 10})
    noted = [text_of_request(body).count("Approaching iteration limit (7/10)") for body in desk.bodies]
    assert noted == [int(turn >= 8) for turn in range(1, 11)]


@under_both
async def test_012_edge_max_iterations_of_1_refuses_the_calls_of_its_only_turn_over_http(
    client: Client, desk: Desk
) -> None:
    desk.play(*searching(1))
    heard = await client.ask(limits={"max_iterations": 1})
    (result,) = heard.of("tool_result")
    assert (result["tool_result"], result["is_error"]) == (REFUSED, True)


@under_both
async def test_decision_05_calls_above_the_limit_of_a_turn_are_answered_over_http(client: Client, desk: Desk) -> None:
    desk.play(says("", *(calls("search_code", query=f"log_in w{at}") for at in range(7))), says("Done."))
    heard = await client.ask(limits={"maxToolCallsPerTurn": 4})
    assert [result["is_error"] for result in heard.of("tool_result")].count(True) == 3
    assert [call["tool_call"]["arguments"]["query"] for call in heard.of("tool_call")] == [
        f"log_in w{at}" for at in range(7)
    ]


@under_both
async def test_012_us3_2_and_3_3_the_metadata_of_the_end_names_call_and_error(client: Client, desk: Desk) -> None:
    desk.play(*(says("", calls("search_code", query="auth")) for _ in range(3)))
    heard = await client.ask()
    assert [result["is_error"] for result in heard.of("tool_result")] == [False] * 3
    notice = heard.of("system")[-1]
    assert (notice["system_type"], notice["severity"]) == ("no_progress", "error")
    assert notice["metadata"] == {"repeated_action": 'search_code({"query": "auth"})'}
    assert heard.last_sentence.startswith("Stopped: no progress - search_code(")
    desk.play(*(says("", calls("read_file", path=f"no/{at}.py")) for at in range(3)))
    heard = await client.ask()
    assert heard.of("system")[-1]["system_type"] == "error_limit"
    metadata = heard.of("system")[-1]["metadata"]
    assert metadata["error_count"] == 3
    assert "no/2.py" in metadata["last_error"]
    for at in range(3):
        assert f'read_file({{"path": "no/{at}.py"}})' in heard.last_sentence


async def test_020_fr_005_and_fr_009_a_signal_is_on_record_and_in_none_of_the_texts(client: Client, desk: Desk) -> None:
    text = 'Text <signal.h> and `<signal type="stuck">`.\n\n<signal type="partial_answer"><missing>x</missing></signal>'
    desk.play(says(text, piece_chars=3))
    async with client.stream() as stream:
        await stream.until_done()
    assert stream.answer == 'Text <signal.h> and `<signal type="stuck">`.'
    assert await client.kept_answer(stream.done["context_id"]) == stream.answer
    signals = (await client.http.get(f"/api/runs/{stream.run_id}/signals")).json()
    assert "partial_answer" in json.dumps(signals)


async def test_020_fr_007_and_us3_2_the_trees_30_turns_hold_whatever_a_user_sets(client: Client, desk: Desk) -> None:
    desk.play(*searching(31))
    heard = await client.ask(limits={"max_iterations": 50})
    assert heard.reason == "max_iterations"
    assert heard.answer == f"{steps(30)}\n\nStopped: iteration limit reached (30/30)."
    assert len(desk.requests) == 30


async def test_hostile_text_of_model_and_tools_survives_the_wire(client: Client, desk: Desk) -> None:
    text = "a\x00b \u2028 \u2029 \x85 \r\n\ndata: {}\n\nid: 7\n\n\U0001f30d\ufeff</script> \ud800"
    desk.play(says(text, calls("read_file", path="\n\nid: 99\ndata: x\n\n\x00\udfff")), says("End."))
    heard = await client.ask()
    assert heard.answer.endswith("End.")
    assert "\n\nid: 7\n\n\U0001f30d" in heard.answer
    assert len(heard.of("tool_result")) == 1


async def test_an_answer_of_700_000_characters_is_sent_in_full(client: Client, desk: Desk) -> None:
    text = "".join(f"{number:06d} " for number in range(100_000))
    desk.play(says(text, piece_chars=50_000))
    heard = await client.ask(limits={"token_budget": 200_000})
    assert (heard.reason, heard.answer) == ("completed", text)
