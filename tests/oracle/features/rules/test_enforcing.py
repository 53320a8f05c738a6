"""Rules of a tree while it runs: refused before any side effect, stopped, or reported to the user."""

import asyncio
from dataclasses import replace

from structlog.testing import capture_logs

from oracle.agent.journal import NoJournal
from oracle.agent.outcomes import ToolsOutcome
from oracle.features.rules.enforcing import rules_of
from oracle.tools import ToolResult
from tests.acceptance.harness import (
    ACTION_QUESTION,
    CODE_QUESTION,
    answers,
    calls,
    harness,
    made_tool,
    says,
)

WRITE = {"path": "plans/new.md", "body": "# New\n"}
LIST = {"folder": "plans"}

TREE = """\
tree: ruled
blackboard:
  approved: bool
rules:
{rules}
root:
  sequence:
    - classify_query
    - compose_prompt
    - loop:
        name: turns
        until: termination_reason
        guards: [cancelled, turn_budget, deadline]
        child:
          sequence:
            - llm_turn
            - selector:
                - subtree: use_tools
                - stop: completed
"""

APPROVAL = """\
  - name: approval_first
    text: A note is written only after an approval.
    precedence: {first: {delivery: approved}, then: {tool: vault_write}}
    enforce: ENFORCE
"""


class Journal(NoJournal):
    def __init__(self):
        self.breaches = []
        self.outcomes = []

    async def keep(self, outcomes):
        self.outcomes += outcomes

    def rule(self, breach):
        self.breaches.append(breach)


async def ask(it, rules, question=ACTION_QUESTION, **ask):
    """The answer to a question under a tree with these rules, and what its journal got."""
    it.write_tree("ruled", TREE.format(rules=rules))
    journal = Journal()
    underway = await it.start(question, tree="ruled", journal=journal, **ask)
    return await underway.result(), journal


async def test_a_tool_call_that_would_break_a_rule_is_answered_with_its_text_and_not_run():
    script = [says("", calls("vault_write", **WRITE)), answers("Not written.")]
    async with harness(script, wire=False) as it:
        answered, journal = await ask(it, APPROVAL.replace("ENFORCE", "refuse"))
        assert not (it.vault / WRITE["path"]).exists()
    [result] = answered.results
    assert (result.tool_result, result.is_error) == ("Not run: A note is written only after an approval.", True)
    assert answered.reason == "completed"
    assert (answered.agent.state.error_streak, answered.agent.state.recent_actions) == (0, ())
    [breach] = journal.breaches
    assert (breach.rule, breach.enforcement, breach.event) == ("approval_first", "refuse", "tool vault_write")


async def test_the_same_call_is_run_after_the_approval():
    rules = APPROVAL.replace("ENFORCE", "refuse")
    async with harness([says("", calls("vault_write", **WRITE)), answers("Written.")], wire=False) as it:
        it.write_tree("ruled", TREE.format(rules=rules))
        underway = await it.start(ACTION_QUESTION, tree="ruled")
        underway.query.control._loop.deliver("approved", True)
        answered = await underway.result()
        assert (it.vault / WRITE["path"]).read_text().endswith(WRITE["body"])
    assert [result.is_error for result in answered.results] == [False]


async def test_a_call_is_run_only_if_a_person_has_approved_this_very_call():
    rules = """\
  - name: approved
    text: Each note is approved.
    absence: { tool: vault_write, where: not is_approved }
    enforce: refuse
"""
    policy = "{ tool: vault_write, when: \"path == 'plans/new.md'\" }"
    tree = TREE.format(rules=rules).replace(
        "- subtree: use_tools",
        f"- sequence: [{{ condition: tool_calls > 0 }}, {{ run_tools: {{ approve: [{policy}] }} }}]",
    )
    other = {**WRITE, "path": "plans/other.md"}
    script = [says("", calls("vault_write", **WRITE), calls("vault_write", **other)), answers("Written.")]
    async with harness(script, wire=False) as it:
        it.write_tree("ruled", tree)
        underway = await it.start(ACTION_QUESTION, tree="ruled", decide=lambda _: {"decision": "approve"})
        answered = await underway.result()
        assert {path.name for path in it.vault.rglob("*.md")} & {"new.md", "other.md"} == {"new.md"}
    assert sorted(result.is_error for result in answered.results) == [False, True]


async def test_calls_of_one_turn_are_judged_in_their_order():
    rules = """\
  - name: two_looks
    text: The folder is listed at most twice.
    at_most: {tool: vault_list, times: 2}
    enforce: refuse
"""
    many = [calls("vault_list", folder=folder) for folder in ("plans", "meetings", ".", "plans")]
    async with harness([says("", *many), answers("Seen.")], wire=False) as it:
        answered, journal = await ask(it, rules)
    refused = "Not run: The folder is listed at most twice."
    texts = [result.tool_result for result in sorted(answered.results, key=lambda result: result.tool_call_id)]
    assert [text == refused for text in texts] == [False, False, True, False]  # the last one shares the first result
    assert len(journal.breaches) == 1
    [outcome] = [each.value for each in journal.outcomes if isinstance(each.value, ToolsOutcome)]
    assert [result.began for result in outcome.results] == [True, True, False, False]


async def test_a_call_that_is_not_offered_is_no_event():
    rules = """\
  - name: no_listing
    text: Nothing is listed.
    absence: {tool: thread_push}
    enforce: stop
"""
    async with harness([says("", calls("thread_push", thread="a", content="b")), answers("Ok.")], wire=False) as it:
        answered, journal = await ask(it, rules, CODE_QUESTION)
    assert answered.results[0].tool_result.startswith("'thread_push' is not offered")
    assert (answered.reason, journal.breaches) == ("completed", [])


async def test_a_rule_refuses_a_call_of_the_tree_itself_and_the_node_fails():
    tree = """\
tree: ruled
rules:
  - name: no_listing
    text: Nothing is listed.
    absence: {tool: vault_list}
    enforce: refuse
root:
  sequence:
    - classify_query
    - compose_prompt
    - force_success: {action: {call: vault_list, with: {folder: "'plans'"}}}
    - llm_turn
    - stop: completed
"""
    async with harness([answers("Hello.")], wire=False) as it:
        it.write_tree("ruled", tree)
        answered = await it.ask(ACTION_QUESTION, tree="ruled")
    [result] = answered.results
    assert (result.tool_result, result.is_error) == ("Not run: Nothing is listed.", True)
    assert answered.reason == "completed"


async def test_a_condition_over_the_arguments_decides():
    rules = """\
  - name: only_plans
    text: Notes are written below plans/ alone.
    absence: {tool: vault_write, where: "not startswith(path, 'plans/')"}
    enforce: refuse
"""
    script = [
        says("", calls("vault_write", path="a.md", body="x"), calls("vault_write", **WRITE)),
        answers("One of two."),
    ]
    async with harness(script, wire=False) as it:
        answered, _ = await ask(it, rules)
        assert (it.vault / WRITE["path"]).exists()
        assert not (it.vault / "a.md").exists()
    assert sorted(result.is_error for result in answered.results) == [False, True]


STOP = """\
  - name: one_look
    text: The folder is listed once.
    at_most: {tool: vault_list, times: 1}
    enforce: stop
"""


async def test_a_rule_that_stops_ends_the_query_as_an_error_with_its_text():
    script = [says("A.", calls("vault_list", **LIST)), says("B.", calls("vault_list", **LIST)), answers("Never.")]
    async with harness(script, wire=False) as it:
        answered, journal = await ask(it, STOP)
    assert answered.reason == "error"
    [failed] = answered.failures
    assert failed.error_type == "tree_failed"
    assert failed.error == "The folder is listed once. Reference: id-2."
    assert answered.last_sentence.startswith("Stopped: The folder is listed once.")
    assert answered.cause == "the rule 'one_look' of the tree 'ruled' was broken by tool vault_list"
    assert [breach.enforcement for breach in journal.breaches] == ["stop"]
    assert "Never." not in answered.answer


async def test_a_rule_about_turns_stops_a_turn_that_is_under_way():
    rules = """\
  - name: one_turn
    text: One turn is enough.
    at_most: {turn: answer, times: 1}
    enforce: stop
"""
    async with harness([says("A.", calls("vault_list", **LIST)), replace(says("B"), hang=True)], wire=False) as it:
        answered, journal = await ask(it, rules)
    assert (answered.reason, answered.failures[0].error) == ("error", "One turn is enough. Reference: id-2.")
    assert [breach.event for breach in journal.breaches] == ["turn answer"]


async def test_a_rule_that_notifies_tells_the_user_once_and_the_query_goes_on():
    rules = STOP.replace("stop", "notify")
    listing = says("", calls("vault_list", **LIST))
    async with harness([listing, listing, answers("Done.")], wire=False) as it:
        answered, journal = await ask(it, rules)
    assert answered.reason == "completed"
    [notice] = [notice for notice in answered.notices if notice.metadata.get("rule")]
    assert (notice.system_type, notice.severity) == ("limit_warning", "warning")
    assert (notice.system_message, notice.metadata) == ("The folder is listed once.", {"rule": "one_look"})
    assert [result.is_error for result in answered.results] == [False, False]
    assert len(journal.breaches) == 1


async def test_what_is_still_owed_at_the_end_is_told_before_done():
    rules = """\
  - name: looks_somewhere
    text: Every answer looks into the vault.
    existence: {tool: [vault_list, vault_read]}
    enforce: notify
"""
    async with harness([answers("From memory.")], wire=False) as it:
        answered, journal = await ask(it, rules)
    assert answered.types[-2:] == ["system", "done"]
    assert answered.notices[-1].system_message == "Every answer looks into the vault."
    assert [breach.event for breach in journal.breaches] == [""]


async def test_a_rule_that_is_not_enforced_costs_nothing_while_the_query_runs():
    rules = STOP.replace("    enforce: stop\n", "")
    listing = says("", calls("vault_list", **LIST))
    async with harness([listing, listing, answers("Done.")], wire=False) as it:
        it.write_tree("ruled", TREE.format(rules=rules))
        underway = await it.start(ACTION_QUESTION, tree="ruled", journal=(journal := Journal()))
        assert underway.query.agent.rules is None
        answered = await underway.result()
    assert (answered.reason, journal.breaches) == ("completed", [])


async def test_a_run_that_has_ended_does_not_refer_to_its_rules():
    """They refer to the run: together that would be a cycle, which stays until a garbage collection."""
    async with harness([answers("Hello.")], wire=False) as it:
        it.write_tree("ruled", TREE.format(rules=STOP))
        underway = await it.start(ACTION_QUESTION, tree="ruled")
        rules = underway.query.agent.rules
        agent = (await underway.result()).agent
    assert rules is not None
    assert (agent.rules, agent.output.emit) == (None, rules.forward)


async def test_a_broken_rule_is_logged_without_the_words_of_the_model():
    listing = says("", calls("vault_list", **LIST))
    with capture_logs() as logs:
        async with harness([listing, listing, answers("Done.")], wire=False) as it:
            await ask(it, STOP.replace("stop", "notify"))
    [entry] = [entry for entry in logs if entry["event"] == "rule.violated"]
    assert (entry["rule"], entry["enforcement"], entry["event_type"]) == ("one_look", "notify", "tool")
    assert "plans" not in str(entry)


async def test_a_condition_that_fails_counts_as_not_fulfilled_and_is_logged_once():
    rules = """\
  - name: short_bodies
    text: Bodies are short.
    absence: {tool: [vault_write, vault_list], where: "len(body) > 1000"}
    enforce: refuse
"""
    listing = says("", calls("vault_list", **LIST))
    with capture_logs() as logs:
        async with harness([listing, listing, answers("Done.")], wire=False) as it:
            answered, _ = await ask(it, rules)
    assert [result.is_error for result in answered.results] == [False, False]
    [entry] = [entry for entry in logs if entry["event"] == "rule.condition_failed"]
    assert (entry["rule"], entry["condition"]) == ("short_bodies", "len(body) > 1000")


async def test_a_refused_call_neither_waits_nor_runs_beside_a_slow_one():
    started, release = [], asyncio.Event()

    async def slow(arguments):
        started.append(arguments)
        await release.wait()
        return ToolResult("slow")

    rules = """\
  - name: once
    text: It runs once.
    at_most: {tool: slow, times: 1}
    enforce: refuse
"""
    script = [says("", calls("slow", query="a"), calls("slow", query="b")), answers("Done.")]
    async with harness(script, wire=False, tools=[made_tool(slow, "slow")]) as it:
        it.write_tree("ruled", TREE.format(rules=rules))
        underway = await it.start(CODE_QUESTION, tree="ruled")
        await underway.until(lambda chunks: any(chunk.type == "tool_result" for chunk in chunks))
        assert len(started) == 1
        release.set()
        answered = await underway.result()
    assert answered.reason == "completed"


async def test_all_rules_are_followed_on_request_and_only_enforced_ones_act():
    rules = STOP.replace("    enforce: stop\n", "")
    listing = says("", calls("vault_list", **LIST))
    async with harness([listing, listing, answers("Done.")], wire=False) as it:
        it.write_tree("ruled", TREE.format(rules=rules))
        underway = await it.start(ACTION_QUESTION, tree="ruled")
        query, journal = underway.query, Journal()
        watched = rules_of(query.agent, query.tree, journal=journal, stop=lambda _fault: None)
        answered = await underway.result()
    broken = [
        each for each, state in zip(watched.monitors.monitors, watched.states, strict=True) if each.is_violated(state)
    ]
    assert [each.rule.name for each in broken] == ["one_look"]
    assert (answered.reason, answered.notices, journal.breaches) == ("completed", [], [])


async def test_the_plain_loop_has_no_rules():
    async with harness([answers("Hello.")], wire=False, control="loop") as it:
        underway = await it.start()
        assert underway.query.agent.rules is None
        await underway.result()
