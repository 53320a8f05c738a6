"""Rules over the labels of tools: what may flow from what was read to where a call writes."""

import pytest

from oracle.llm.scripted import ScriptedSearch
from oracle.tools import tool
from tests.acceptance.harness import CODE_QUESTION, answers, calls, harness, says
from tests.oracle.features.rules.test_enforcing import TREE, Journal

NO_FLOW = """\
  - name: nothing_leaks
    text: What strangers wrote sends nothing that nobody has approved.
    no_flow: { from: untrusted, to: outward, unless: approved }
    enforce: refuse
"""
REFUSED = "Not run: What strangers wrote sends nothing that nobody has approved."


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
    return [result.tool_result for result in answered.results], [breach.rule for breach in journal.breaches]


async def test_what_was_read_since_keeps_a_call_that_writes_outward_from_being_run():
    results, broken = await run(["send_mail"], ["read_inbox"], ["send_mail"])
    assert results == ["The result of send_mail.", "The result of read_inbox.", REFUSED]
    assert broken == ["nothing_leaks"]


async def test_a_result_of_the_same_turn_was_not_read_before_the_call_was_made():
    results, broken = await run(["read_inbox", "send_mail"])
    assert (results, broken) == (["The result of read_inbox.", "The result of send_mail."], [])


async def test_what_nobody_else_can_have_written_flows():
    results, broken = await run(["read_clock"], ["send_mail"])
    assert (results[-1], broken) == ("The result of send_mail.", [])


@pytest.mark.parametrize("turns", [(["plugin"], ["send_mail"]), (["read_inbox"], ["plugin"])])
async def test_a_tool_that_nobody_has_labelled_counts_as_all(turns):
    results, broken = await run(*turns)
    assert (results[-1], broken) == (REFUSED, ["nothing_leaks"])


async def test_a_tree_labels_tools_that_their_authors_have_not():
    head = "labels:\n  plug*: { reads: public }\n"
    results, broken = await run(["plugin"], ["send_mail"], ["read_inbox"], ["plugin"], head=head)
    assert "Not run" not in "".join(results)
    assert broken == []


async def test_a_tree_adds_to_the_labels_of_the_author():
    head = "labels:\n  send_mail: { reads: untrusted }\n"
    results, broken = await run(["send_mail"], ["send_mail"], head=head)
    assert (results, broken) == (["The result of send_mail.", REFUSED], ["nothing_leaks"])


ASKED = TREE.replace(
    "- subtree: use_tools",
    "- sequence: [{{ condition: tool_calls > 0 }}, "
    "{{ run_tools: {{ approve: [{{ tool: '*', writes: outward, after: untrusted }}] }} }}]",
)


@pytest.mark.parametrize(
    ("decision", "results"),
    [("approve", ["The result of send_mail."]), ("refuse", ["Not run: a person refused this call."])],
)
async def test_a_person_is_asked_about_what_would_flow_and_about_nothing_else(decision, results):
    asked = []

    def decide(interrupt):
        asked.append(interrupt.tool_name)
        return {"decision": decision, "for": "conversation"}

    names = ["send_mail", "read_inbox", "read_clock", "send_mail", "send_mail"]
    script = [*(says("", calls(name, **({"at": at} if at > 3 else {}))) for at, name in enumerate(names)), answers()]
    async with harness(script, wire=False, tools=(INBOX, SEND_AT, CLOCK)) as it:
        it.write_tree("ruled", ASKED.format(rules=NO_FLOW))
        journal = Journal()
        underway = await it.start(CODE_QUESTION, tree="ruled", journal=journal, decide=decide)
        answered = await underway.result()
    # What is allowed for the conversation was allowed before it was known what flows: each call is asked about.
    assert (asked, journal.breaches) == (["send_mail", "send_mail"], [])
    assert answered.results[0].tool_result == "The result of send_mail."
    assert all(result.tool_result.startswith(results[0]) for result in answered.results[3:])


async def test_what_the_provider_reads_within_a_turn_flows_too():
    search = ScriptedSearch("news", (("https://example.com/page", "A page"),))
    script = [says("Let me see.", calls("send_mail"), searches=(search,)), answers("Done.")]
    async with harness(script, wire=False, tools=[SEND]) as it:
        it.write_tree("ruled", TREE.format(rules=NO_FLOW))
        answered = await (await it.start(CODE_QUESTION, tree="ruled")).result()
    assert answered.results[-1].tool_result == REFUSED
