"""Rules over the labels of tools: what may flow from what was read to where a call writes."""

from dataclasses import replace

import pytest

from oracle.agent.conversations.protocol import Conversation, ConversationMessage
from oracle.llm.scripted import ScriptedSearch
from oracle.runs.record.events import KnownTool
from oracle.runs.repeating import as_begun
from oracle.tools import ToolRegistry, tool
from tests.acceptance.harness import CODE_QUESTION, answers, calls, harness, says
from tests.oracle.features.rules.test_enforcing import TREE, Journal

NO_FLOW = """\
  - name: nothing_leaks
    text: After untrusted text was read, nothing is sent without an approval.
    no_flow: { from: untrusted, to: outward, unless: approved }
    enforce: refuse
"""
REFUSED = "Not run: After untrusted text was read, nothing is sent without an approval."


def made(name, **labels):
    async def call() -> str:
        return f"The result of {name}."

    return tool(group="mail", name=name, description=f"{name}.", when_to_use="Now.", query_types="always", **labels)(
        call
    )


INBOX = made("read_inbox", labels={"reads": ["private", "untrusted"]})
SEND = made("send_mail", labels={"writes": "outward"})
CLOCK = made("read_clock", labels={"reads": ["public", "trusted"]})
UNKNOWN = made("plugin")


@tool(group="mail", when_to_use="Now.", query_types="always", labels={"writes": "outward"}, name="send_mail")
async def SEND_AT(at: int = 0) -> str:  # noqa: N802  a tool
    """send_mail."""
    return f"The result of send_mail{'.' if at >= 0 else ''}"


async def run(*turns, tools=(INBOX, SEND, CLOCK, UNKNOWN), rules=NO_FLOW, head=""):
    """What the calls of some turns have returned, and the rules that were broken."""
    script = [*(says("", *(calls(name) for name in names)) for names in turns), answers("Done.")]
    async with harness(script, wire=False, tools=tools) as it:
        it.write_tree("ruled", TREE.format(rules=rules).replace("rules:", f"{head}rules:", 1))
        journal = Journal()
        answered = await (await it.start(CODE_QUESTION, tree="ruled", journal=journal)).result()
    return [result.tool_result for result in answered.results], [breach.event for breach in journal.breaches]


async def test_what_was_read_since_keeps_a_call_that_writes_outward_from_being_run():
    results, broken = await run(["send_mail"], ["read_inbox"], ["send_mail"])
    assert results == ["The result of send_mail.", "The result of read_inbox.", REFUSED]
    assert broken == ["tool send_mail, after the result of read_inbox"]


async def test_a_result_of_the_same_turn_was_not_read_before_the_call_was_made():
    results, broken = await run(["read_inbox", "send_mail"])
    assert (results, broken) == (["The result of read_inbox.", "The result of send_mail."], [])


async def test_what_nobody_else_can_have_written_flows():
    results, broken = await run(["read_clock"], ["send_mail"])
    assert (results[-1], broken) == ("The result of send_mail.", [])


@pytest.mark.parametrize("names", [("plugin", "send_mail"), ("read_inbox", "plugin")])
async def test_a_tool_that_nobody_has_labelled_counts_as_all(names):
    results, broken = await run(*([name] for name in names))
    assert (results[-1], broken) == (REFUSED, [f"tool {names[1]}, after the result of {names[0]}"])


async def test_a_tree_labels_tools_that_their_authors_have_not():
    head = "labels:\n  plug*: { reads: public }\n"
    results, broken = await run(["plugin"], ["send_mail"], ["read_inbox"], ["plugin"], head=head)
    assert "Not run" not in "".join(results)
    assert broken == []


async def test_a_tree_adds_to_the_labels_of_the_author():
    head = "labels:\n  send_mail: { reads: untrusted }\n"
    results, broken = await run(["send_mail"], ["send_mail"], head=head)
    assert (results, broken) == (
        ["The result of send_mail.", REFUSED],
        ["tool send_mail, after the result of send_mail"],
    )


ASKED = TREE.replace(
    "- subtree: use_tools",
    "- sequence: [{{ condition: tool_calls > 0 }}, "
    "{{ run_tools: {{ approve: [{{ tool: '*', writes: outward, after: untrusted }}] }} }}]",
)


@pytest.mark.parametrize(
    ("decision", "results", "message"),
    [
        ("approve", ["The result of send_mail."], ""),
        ("refuse", ["Not run: a person refused this call."], ""),
        ("approve", ["The result of send_mail."], "May this mail be sent?"),
    ],
)
async def test_a_person_is_asked_about_what_would_flow_and_about_nothing_else(decision, results, message):
    asked = []

    def decide(interrupt):
        asked.append((interrupt.message, interrupt.read_before))
        return {"decision": decision, "for": "conversation"}

    names = ["send_mail", "read_inbox", "read_clock", "send_mail", "send_mail"]
    script = [*(says("", calls(name, **({"at": at} if at > 3 else {}))) for at, name in enumerate(names)), answers()]
    async with harness(script, wire=False, tools=(INBOX, SEND_AT, CLOCK)) as it:
        tree = ASKED.format(rules=NO_FLOW)
        it.write_tree(
            "ruled", tree.replace("run_tools: {", f"run_tools: {{ message: '{message}',") if message else tree
        )
        journal = Journal()
        underway = await it.start(CODE_QUESTION, tree="ruled", journal=journal, decide=decide)
        answered = await underway.result()
    # What is allowed for the conversation was allowed before it was known what flows: each call is asked about.
    said = f"{message or 'May send_mail be run?'} It may be made of what was read: read_inbox."
    assert (asked, journal.breaches) == ([(said, ("read_inbox",))] * 2, [])
    assert answered.results[0].tool_result == "The result of send_mail."
    assert all(result.tool_result.startswith(results[0]) for result in answered.results[3:])


async def test_what_the_provider_reads_within_a_turn_flows_too():
    search = ScriptedSearch("news", (("https://example.com/page", "A page"),))
    script = [says("Let me see.", calls("send_mail"), searches=(search,)), answers("Done.")]
    async with harness(script, wire=False, tools=[SEND]) as it:
        it.write_tree("ruled", TREE.format(rules=NO_FLOW))
        answered = await (await it.start(CODE_QUESTION, tree="ruled")).result()
    assert answered.results[-1].tool_result == REFUSED


@pytest.mark.parametrize(("first", "is_refused"), [("read_inbox", True), ("read_clock", False)])
async def test_what_an_earlier_question_of_the_conversation_has_read_flows_too(first, is_refused):
    script = [says("", calls(first)), answers(), says("", calls("send_mail")), answers()]
    async with harness(script, wire=False, tools=(INBOX, SEND, CLOCK)) as it:
        it.write_tree("ruled", TREE.format(rules=NO_FLOW))
        before = await it.ask(CODE_QUESTION, tree="ruled")
        answered = await it.ask(CODE_QUESTION, tree="ruled", context_id=before.conversation.context_id)
    assert (answered.results[0].tool_result == REFUSED) is is_refused
    assert answered.agent.query.read_before == (first,)


def test_a_conversation_knows_what_its_questions_have_read():
    def message(role, **metadata):
        return ConversationMessage(role, "text", "2026-01-01T00:00:00Z", metadata)

    answer = message("assistant", tool_calls=[{"name": "read_inbox"}, {"name": "read_clock"}])
    messages = (message("user", attachments=[{"type": "text"}]), message("system", tool_calls=1), answer)
    assert Conversation("a", "b", messages=messages).read_before == ("an attachment", "read_clock", "read_inbox")
    assert Conversation("a", "b", earlier=2).read_before == ("earlier messages",)  # nobody knows what is behind these


async def test_a_tool_that_gets_a_label_while_a_run_waits_is_not_called_by_what_was_decided_before():
    known = KnownTool.of(replace(SEND, labels=frozenset({"inward"})))
    again = as_begun(SEND, known, labels=())
    assert again.labels == {"inward"}  # by which the run is repeated as it was
    result = await ToolRegistry([again]).call("send_mail", {})
    assert result.is_error
    assert result.text.startswith("send_mail was not called: since this question began it has got the label outward")
    assert as_begun(SEND, KnownTool.of(SEND), labels=()).call is SEND.call
    looser = as_begun(replace(SEND, labels=frozenset()), KnownTool.of(SEND), labels=())
    assert (looser.flows, looser.call) == (("outward",), SEND.call)
    stricter = as_begun(replace(SEND, labels=None), known, labels=[("send_*", frozenset({"outward"}))])
    assert (await ToolRegistry([stricter]).call("send_mail", {})).is_error
