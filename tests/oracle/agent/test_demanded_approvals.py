"""Tools of which the operator demands that a person approves each call, whatever the tree says."""

from dataclasses import replace

from oracle.core.chunks import ApprovalRequested
from oracle.runs.record.events import KnownTool
from oracle.runs.repeating import stand_in
from tests.acceptance.harness import answers, calls, harness, made_tool, numbered, says

DEMANDED = replace(made_tool(numbered), needs_approval=True)


async def test_a_call_waits_for_a_person_although_the_tree_asks_nobody():
    async with harness([says("", calls("probe", n=1)), answers()], tools=[DEMANDED]) as it:
        told = (await it.ask(decide=lambda _: {"decision": "approve"})).check()
    (asked,) = told.of(ApprovalRequested)
    assert (asked.interrupt.tool_name, asked.interrupt.arguments) == ("probe", {"n": 1})
    (result,) = told.results
    assert not result.is_error


async def test_a_refused_call_is_not_run_and_others_are():
    turns = [says("", calls("probe", n=1), calls("search_code", query="login")), answers()]
    async with harness(turns, tools=[DEMANDED]) as it:
        told = (await it.ask(decide=lambda _: {"decision": "refuse"})).check()
    refused, _ = told.results
    assert refused.is_error
    assert len(told.of(ApprovalRequested)) == 1


async def test_a_control_that_cannot_ask_is_not_offered_them():
    async with harness([answers()], tools=[DEMANDED], control="loop") as it:
        told = (await it.ask()).check()
    assert "probe" not in {tool["name"] for tool in told.bodies[0]["tools"]}


def test_a_record_says_it():
    known = KnownTool.of(DEMANDED)
    assert KnownTool.from_list(known.to_list()) == known
    assert stand_in(known).needs_approval
