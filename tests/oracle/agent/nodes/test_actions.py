"""What the agent's action nodes do, one contract after the other; the limits are in the acceptance tests."""

import asyncio
import textwrap

import pytest

from bt_runtime import HostAction, TreeFileError
from bt_runtime.library.named import read_tree
from bt_runtime.record.status import Status
from bt_runtime.testing import FakeClock
from oracle.agent.nodes import REGISTRY
from oracle.llm.protocol import ModelFault
from oracle.testing import ScriptedModel
from oracle.tools import Tool, ToolResult
from tests.acceptance.harness import CHAT, CODE_QUESTION, answers, calls, harness, says, signal_xml, text_of
from tests.oracle.agent.nodes.running import errors, run_nodes, statuses, tree_of, written

LOOKING = says("Looking.", calls("search_code", query="RetryPolicy"))


# --- classify_query, compose_prompt


async def test_a_tree_that_does_not_classify_composes_a_prompt_all_the_same() -> None:
    text = "tree: sample\nroot: {sequence: [compose_prompt, llm_turn, stop: completed]}\n"
    async with harness([answers()], wire=False) as it:
        it.write_tree("sample", text)
        answered = await it.ask(tree="sample")
    assert answered.reason == "completed"
    assert [tool.name for tool in answered.requests[0].tools][:3] == ["search_code", "read_file", "list_files"]


async def test_a_tree_that_does_neither_runs_without_prompt_and_tools() -> None:
    async with harness([answers()], wire=False) as it:
        it.write_tree("sample", "tree: sample\nroot: {sequence: [llm_turn, stop: completed]}\n")
        answered = await it.ask(tree="sample")
    assert answered.answer == "This is the answer."
    assert answered.requests[0].system == ""
    assert answered.requests[0].tools == ()


# --- llm_turn


async def test_llm_turn_writes_the_models_signal_to_the_blackboard() -> None:
    turn = says("Half." + signal_xml("need_turn", reason="more of it", confidence=0.4))
    answered = await run_nodes("- llm_turn\n- stop: completed", [turn])
    assert written(answered, "signal") == ["need_turn"]
    assert written(answered, "confidence") == [0.4]
    assert written(answered, "signal_reason") == ["more of it"]
    assert written(answered, "turn") == [1]


async def test_llm_turn_fails_when_the_provider_does_and_the_query_is_an_error() -> None:
    broken = says("Ha", fault=ModelFault("provider_overloaded", "the model is overloaded"))
    answered = await run_nodes("- llm_turn", [broken])
    assert statuses(answered, "llm_turn") == [Status.RUNNING, Status.FAILURE]
    assert answered.reason == "error"
    assert answered.kept == "Ha\n\nStopped: the model is overloaded."


async def test_llm_turn_that_fails_can_be_retried_and_the_text_stays() -> None:
    broken = says("Ha", fault=ModelFault("provider_overloaded", "the model is overloaded"))
    nodes = "- retry: {attempts: 2, backoff_s: 5, child: llm_turn}\n- stop: completed"
    clock = FakeClock()
    answered = await run_nodes(nodes, [broken, answers("Hello.")], clock=clock)
    assert answered.reason == "completed"
    assert answered.answer == "Ha\n\nHello."
    assert clock.now() == 5


async def test_llm_turn_has_a_time_of_its_own() -> None:
    nodes = "- llm_turn: {timeout_s: 7.5}"
    answered = await run_nodes(nodes, [says("Ha", hang=True)], clock=FakeClock(), limits={"timeout_seconds": 60})
    assert answered.reason == "error"
    assert answered.kept == "Ha\n\nStopped: The language model took longer than 7.5 s. Please ask again."


async def test_a_turn_takes_as_long_as_the_model_does() -> None:
    clock = FakeClock(start_s=1_000)
    slow = ScriptedModel([answers(delay_s=5)], sleep=clock.sleep)
    answered = await run_nodes("- llm_turn\n- stop: completed", clock=clock, model=slow)
    assert answered.agent.turn.outcome is not None
    assert answered.agent.turn.outcome.duration_ms == 5_000


async def test_llm_turn_that_took_too_long_is_known_to_have_failed() -> None:
    nodes = """
    - force_success: {llm_turn: {timeout_s: 7.5}}
    - condition: failed
    - llm_turn
    - condition: not failed
    - stop: completed
    """
    answered = await run_nodes(nodes, [says("Ha", hang=True), answers("Hello.")], clock=FakeClock())
    assert statuses(answered, "llm_turn") == [Status.RUNNING, Status.FAILURE, Status.RUNNING, Status.SUCCESS]
    assert [record.cause for record in answered.recording if ("failed", True) in record.writes] == ["deadline"]
    assert errors(answered) == []
    assert answered.reason == "completed"
    assert answered.answer == "Ha\n\nHello."


async def test_llm_turn_gives_hints_of_the_file_and_of_the_blackboard_once() -> None:
    nodes = """
    - set: {hint: "'From the board.'"}
    - llm_turn: From the file.
    - grant_turn
    - llm_turn
    - stop: completed
    """
    answered = await run_nodes(nodes, [says("One."), answers("Two.")])
    told = [text_of(request.messages[-1]) for request in answered.requests]
    assert told == ["From the board.\nFrom the file.", "Continue."]


@pytest.mark.parametrize("node", ["llm_turn", "grant_turn"])
async def test_a_hint_shows_values_of_the_blackboard(node: str) -> None:
    nodes = f"""
    - set: {{text: "'a <control_note> of the user'"}}
    - {node}: "Type {{query_type}}, turn {{turn}}; {{text}}; {{ braces }}."
    - llm_turn
    - stop: completed
    """
    answered = await run_nodes(nodes, [answers("One."), answers("Two.")])
    (request, *_) = answered.requests
    assert 'Type "code", turn 0; "a <control_note> of the user"; { braces }.' in text_of(request.messages[-1])


@pytest.mark.parametrize("kind", ["llm_turn", "grant_turn", "note", "require_answer", "try_strategy"])
def test_a_hint_that_shows_an_unknown_key_is_a_mistake_at_its_place(kind: str) -> None:
    text = f"tree: sample\nroot:\n  {kind}: Type {{query_typ}}.\n"
    with pytest.raises(TreeFileError) as wrong:
        read_tree(text, file="sample.yaml", registry=REGISTRY)
    (mistake,) = wrong.value.mistakes
    assert mistake.place.line == 3
    assert (mistake.message, mistake.hint) == (
        "there is no blackboard key 'query_typ'",
        "did you mean 'query_type'?",
    )


async def test_llm_turn_without_tools_may_not_call_any() -> None:
    answered = await run_nodes("- llm_turn: {tools: false}\n- stop: completed")
    assert answered.requests[0].tool_choice == "none"
    assert answered.requests[0].tools != ()  # they stay listed, for the provider's cache


async def test_one_turn_right_behind_another_is_asked_to_continue() -> None:
    answered = await run_nodes("- llm_turn\n- llm_turn\n- stop: completed", [says("One."), answers("Two.")])
    assert answered.answer == "One.\n\nTwo."
    assert text_of(answered.requests[1].messages[-1]) == "Continue."


async def test_a_turn_behind_tool_calls_that_were_not_run_answers_them_first() -> None:
    answered = await run_nodes("- llm_turn\n- llm_turn\n- stop: completed", [LOOKING, answers("Two.")])
    (result,) = answered.results
    assert result.is_error
    assert result.tool_result == "Not run: the control goes on without it."
    assert answered.requests[1].messages[-1]["content"][0]["type"] == "tool_result"


# --- llm_turn beside the answer (decision 9)


async def test_an_invisible_turn_is_neither_streamed_nor_saved_nor_remembered() -> None:
    nodes = "- llm_turn: {visible: false, into: text, hint: What is asked?}\n- llm_turn\n- stop: completed"
    answered = await run_nodes(nodes, [says("A secret thought."), answers()])
    assert answered.answer == "This is the answer."
    assert written(answered, "text") == ["A secret thought."]
    assert text_of(answered.requests[0].messages[-1]).endswith("What is asked?")
    assert "What is asked?" not in str(answered.requests[1].messages)
    assert answered.requests[0].tool_choice == "none"
    assert "secret" not in str(answered.requests[1].messages)
    assert answered.done.turns == 2


@pytest.mark.parametrize("first", [answers("The answer."), LOOKING], ids=["an answer", "tool calls"])
async def test_an_invisible_turn_can_stand_behind(first) -> None:
    """Over the real wire, because the provider refuses a conversation that does not end with the user's word."""
    async with harness([first, says("It is good."), answers("More.")]) as it:
        nodes = "- llm_turn\n- llm_turn: {visible: false, into: text}\n- condition: tool_calls == 0\n- stop: completed"
        it.write_tree("sample", tree_of(nodes))
        answered = await it.ask(tree="sample")
    assert written(answered, "text") == ["It is good."]
    spoken = [message["role"] for message in answered.bodies[1]["messages"] if message["role"] != "system"]
    assert spoken[-1] == "user"


async def test_an_invisible_turn_behind_an_answer_does_not_undo_that_it_is_one() -> None:
    answered = await run_nodes("- llm_turn\n- llm_turn: {visible: false}", [answers("Done."), says("Good.")])
    assert answered.reason == "completed"
    assert answered.answer == "Done."


async def test_an_invisible_turn_that_fails_costs_its_tokens() -> None:
    broken = says("Ha", tokens=300, fault=ModelFault("provider_overloaded", "the model is overloaded"))
    nodes = "- force_success: {llm_turn: {visible: false}}\n- llm_turn\n- stop: completed"
    answered = await run_nodes(nodes, [broken, answers(tokens=200)])
    assert answered.reason == "completed"
    assert answered.done.tokens_used == 500


async def test_the_signal_of_an_invisible_turn_is_in_the_audit() -> None:
    thought = says("A thought." + signal_xml("need_turn", reason="there is more"))
    answered = await run_nodes("- llm_turn: {visible: false}\n- llm_turn\n- stop: completed", [thought, answers()])
    records = [(record.turn, record.type, record.action) for record in answered.agent.signals.audit]
    assert records == [(1, "need_turn", "beside_the_answer"), (2, "context_sufficient", "completed")]


# --- run_tools, refuse_tools


async def test_run_tools_writes_what_became_of_the_calls() -> None:
    answered = await run_nodes("- llm_turn\n- run_tools\n- stop: completed", [LOOKING])
    assert written(answered, "tool_calls") == [1]
    assert [list(value) for value in written(answered, "tools_tried")] == [["search_code"]]
    assert written(answered, "sources") == [1]
    assert answered.sources[0].source.path == "src/retry.py"


async def test_refuse_tools_answers_every_call_and_counts_none() -> None:
    answered = await run_nodes("- llm_turn\n- refuse_tools: Not today.\n- stop: completed", [LOOKING])
    (result,) = answered.results
    assert (result.tool_result, result.is_error) == ("Not today.", True)
    assert answered.agent.state.recent_actions == ()
    assert answered.agent.state.error_streak == 0


@pytest.mark.parametrize("kind", ["run_tools", "refuse_tools"])
async def test_without_tool_calls_there_is_nothing_to_do(kind: str) -> None:
    answered = await run_nodes(f"- {kind}\n- llm_turn\n- {kind}\n- stop: completed")
    assert answered.reason == "completed"
    assert answered.results == []


# --- offer_all_reading_tools, grant_turn, classify_response


async def test_offer_all_reading_tools_succeeds_if_that_adds_one() -> None:
    nodes = "- offer_all_reading_tools\n- inverter: offer_all_reading_tools\n- llm_turn\n- stop: completed"
    answered = await run_nodes(nodes, question=CHAT)
    names = {tool.name for tool in answered.requests[0].tools}
    assert {"search_code", "vault_search", "thread_read"} <= names
    assert "vault_write" not in names
    assert "- `search_code(" in answered.requests[0].system
    assert len(answered.requests[0].messages) == 1


async def test_after_a_turn_a_note_lists_the_tools_that_are_offered_now() -> None:
    nodes = "- llm_turn\n- offer_all_reading_tools\n- llm_turn\n- stop: completed"
    answered = await run_nodes(nodes, [says("Hello."), answers()], question=CHAT)
    first, second = answered.requests
    assert first.system == second.system
    assert "More tools are offered from now on: search_code(" in text_of(second.messages[-1])


async def test_offer_tools_appends_the_named_tools_once_and_lists_them_for_the_model() -> None:
    nodes = """
    - llm_turn
    - offer_tools: [thread_push, search_code, thread_push, web_search]
    - inverter: {offer_tools: [thread_push]}
    - llm_turn
    - stop: completed
    """
    answered = await run_nodes(textwrap.dedent(nodes), [says("Hm."), answers()], question=CODE_QUESTION)
    before, after = ([tool.name for tool in request.tools] for request in answered.requests)
    assert after == [*before, "thread_push"]
    told = text_of(answered.requests[1].messages[-1])
    assert "More tools are offered from now on: thread_push(thread, content): " in told
    assert told.count("thread_push") == 1
    assert errors(answered) == []


async def test_a_tool_that_offer_tools_has_offered_can_be_called() -> None:
    wants = says("Noting it.", calls("vault_write", path="note.md", body="Retries are capped."))
    answered = await run_nodes("- offer_tools: [vault_write]\n- llm_turn\n- run_tools\n- stop: completed", [wants])
    (result,) = answered.results
    assert not result.is_error
    refused = await run_nodes("- llm_turn\n- run_tools\n- stop: completed", [wants])
    assert "is not offered for this question" in refused.results[0].tool_result


def test_an_unknown_tool_is_a_mistake_at_its_place_with_the_nearest_name() -> None:
    known = dict.fromkeys(("vault_write", "thread_push"), HostAction(None))
    text = "tree: sample\nroot:\n  offer_tools:\n    - thread_push\n    - vault_wirte\n"
    with pytest.raises(TreeFileError) as wrong:
        read_tree(text, file="sample.yaml", registry=REGISTRY.with_actions(known))
    (mistake,) = wrong.value.mistakes
    assert (mistake.place.line, mistake.place.column) == (5, 7)
    assert (mistake.message, mistake.hint) == ("there is no action 'vault_wirte'", "did you mean 'vault_write'?")
    read_tree(text, file="sample.yaml", registry=REGISTRY)  # where the tools are unknown, nothing is wrong


def test_a_tool_that_the_provider_runs_can_be_offered_but_not_called() -> None:
    registry = REGISTRY.with_actions({"web_search": HostAction(("query",), is_callable=False)})
    read_tree("tree: sample\nroot: {offer_tools: [web_search]}\n", file="sample.yaml", registry=registry)
    with pytest.raises(TreeFileError, match="a tree cannot call 'web_search': the provider runs it"):
        read_tree("tree: sample\nroot: {action: web_search}\n", file="sample.yaml", registry=registry)


async def test_grant_turn_asks_with_a_note_that_is_not_kept() -> None:
    nodes = "- llm_turn\n- grant_turn: Look closer.\n- llm_turn\n- stop: completed"
    answered = await run_nodes(nodes, [says("One."), answers("Two.")])
    asked, note = answered.requests[1].messages[-2:]
    assert (asked["role"], text_of(asked)) == ("user", "Continue.")
    assert (note["role"], text_of(note)) == ("system", "Look closer.")
    assert [message.role for message in answered.conversation.messages] == ["user", "assistant"]


async def test_classify_response_before_any_turn_reads_an_empty_response() -> None:
    answered = await run_nodes("- classify_response\n- llm_turn\n- stop: completed")
    assert errors(answered) == []
    assert written(answered, "intent") == ["stuck", ""]  # until there is a response that it is not about


# --- say, notify, stop


async def test_say_adds_a_paragraph_with_values_in_it() -> None:
    answered = await run_nodes('- llm_turn\n- say: "Type {query_type}, turn {turn}."\n- stop: completed')
    assert answered.answer == "This is the answer.\n\nType code, turn 1."


async def test_say_shows_no_signal_and_one_line_of_what_the_model_said() -> None:
    hostile = "a\nb &lt;signal type='stuck'&gt;" + "x" * 900
    turn = says("Hm." + signal_xml("need_capability", capability=hostile, reason="r"))
    answered = await run_nodes('- llm_turn\n- say: "I need {capability}."\n- stop: completed', [turn])
    sentence = answered.answer.partition("\n\n")[2]
    assert "\n" not in sentence
    assert "<signal" not in sentence
    assert len(sentence) < 350


async def test_say_and_notify_see_the_parameters_of_their_subtree() -> None:
    greet = """
    tree: greet
    parameters: {whom: str}
    root:
      sequence: [say: "Hello ${whom}.", notify: "Greeted ${whom}."]
    """
    async with harness([answers()], wire=False) as it:
        it.write_tree("greet", greet)
        nodes = "- subtree: {tree: greet, with: {whom: Ada}}\n- llm_turn\n- stop: completed"
        it.write_tree("sample", tree_of(nodes))
        answered = await it.ask(tree="sample")
    assert errors(answered) == []
    assert answered.answer.startswith("Hello Ada.")
    assert answered.messages == ["Greeted Ada."]


async def test_notify_with_a_topic_that_clients_do_not_know_is_reported_before_anything_runs() -> None:
    with pytest.raises(TreeFileError, match=r"'topic' must be .*'fallback' or 'notice', not 'gossip'"):
        await run_nodes("- notify: {message: Hi., topic: gossip}")


async def test_notify_may_show_keys_whose_names_mean_something_to_the_log() -> None:
    async with harness([answers()], wire=False) as it:
        text = tree_of('- notify: "{event} {topic} {run_id}"\n- llm_turn\n- stop: completed')
        declared = (
            "  event: {type: str, default: a}\n  topic: {type: str, default: b}\n  run_id: {type: str, default: c}\n"
        )
        it.write_tree("sample", text.replace("root:\n", f"{declared}root:\n", 1))
        answered = await it.ask(tree="sample")
    assert answered.messages == ["a b c"]
    assert errors(answered) == []


async def test_the_first_reason_to_stop_counts() -> None:
    answered = await run_nodes("- llm_turn\n- stop: completed\n- stop: stuck")
    assert answered.reason == "completed"


async def test_a_query_that_is_stuck_on_requests_for_turns_quotes_the_last_one() -> None:
    turn = says("Half." + signal_xml("need_turn", reason="more of it"))
    answered = await run_nodes("- llm_turn\n- stop: stuck", [turn])
    assert answered.last_sentence == ("Stopped: could not get further - it kept asking for another turn: more of it.")


# --- action: the tree itself runs a tool


async def test_a_tree_runs_a_tool_itself_with_its_chunks() -> None:
    nodes = """
    - action: {call: search_code, with: {query: "'RetryPolicy'"}, into: text}
    - set: {hint: text}
    - llm_turn
    - stop: completed
    """
    answered = await run_nodes(nodes)
    assert errors(answered) == []
    assert [call.name for call in answered.calls] == ["search_code"]
    assert answered.sources[0].source.path == "src/retry.py"
    assert "class RetryPolicy" in text_of(answered.requests[0].messages[-1])


@pytest.mark.parametrize("call", ["read_file", "no_such_tool"])
async def test_a_tool_of_the_tree_that_fails_fails_its_node_alone(call: str) -> None:
    nodes = (
        f"- force_success: {{action: {{call: {call}, with: {{path: \"'none.py'\"}}}}}}\n- llm_turn\n- stop: completed"
    )
    answered = await run_nodes(nodes)
    assert answered.results[0].is_error
    assert answered.answer == "This is the answer."


async def test_a_tool_of_the_tree_is_cancelled_with_the_query() -> None:
    started = asyncio.Event()

    async def never(_: object) -> ToolResult:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    slow = Tool("slow", "Waits.", "Never.", {"type": "object", "properties": {}}, never, "code")
    async with harness([answers()], wire=False, tools=[slow]) as it:
        it.write_tree("sample", tree_of("- loop: {guards: [cancelled], child: {action: slow}}"))
        underway = await it.start(tree="sample")
        await started.wait()
        underway.cancel()
        answered = await underway.result()
    assert answered.reason == "user_cancelled"
    assert answered.results[0].is_error


# --- mistakes are reported before anything runs


@pytest.mark.parametrize(
    ("node", "told"),
    [
        ("llm_turn: {timeout: 5}", "'llm_turn' has no setting 'timeout'"),
        ("llm_turn: {timeout_s: 0}", "timeout_s"),
        ("llm_turn: {into: nowhere}", "nowhere"),
        ("llm_turn: {into: turn}", "turn"),
        ("set: {turn: 3}", "turn"),
        ("set: {max_turns: 3}", "max_turns"),
        ("stop: because", "because"),
        ("stop", "reason"),
        ("turn_budget: 0", "limit"),
        ("deadline: -1", "seconds"),
        ('say: ""', "text"),
        ('say: "{capabilty}"', "capabilty"),
        ("lm_turn", "did you mean 'llm_turn'?"),
    ],
)
async def test_a_wrong_node_is_refused_with_its_place(node: str, told: str) -> None:
    async with harness([answers()], wire=False) as it:
        it.write_tree("sample", tree_of(f"- {node}"))
        with pytest.raises(TreeFileError) as caught:
            await it.ask(tree="sample")
    assert told in str(caught.value)
    assert "sample.yaml:11:" in str(caught.value)


def test_a_misspelt_key_of_the_host_is_reported_because_its_default_would_be_lost() -> None:
    text = "tree: sample\nblackboard:\n  max_turn: {type: int, default: 1}\nroot: finish\n"
    with pytest.raises(TreeFileError) as told:
        read_tree(text, file="sample.yaml", registry=REGISTRY)
    assert str(told.value).startswith("sample.yaml:3:3: 'max_turn' is declared, but nothing here uses it")
    assert "did you mean 'max_turns'?" in str(told.value)


def test_a_key_of_the_author_may_look_like_one_of_the_host_if_it_is_used() -> None:
    text = "tree: sample\nblackboard: {max_turn: int}\nroot: {sequence: [{set: {max_turn: 1}}, finish]}\n"
    assert "max_turn" in read_tree(text, file="sample.yaml", registry=REGISTRY).keys
