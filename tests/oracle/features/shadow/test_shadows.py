"""The question of an ended run once more, under the other control: what it may do, what is kept, and how it ends."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from oracle.core.errors import OperatorError, UserError
from oracle.features.shadow import running
from oracle.features.shadow.report import report_of
from oracle.llm.protocol import ModelFault
from oracle.runs.storage import schema
from oracle.runs.storage.records import RunCommand
from oracle.runs.storage.run_pages import RunFilter
from oracle.testing import ScriptedTurn
from oracle.tools import ToolResult
from tests.acceptance.harness import answers, calls, made_tool, numbered, says, text_of_request
from tests.acceptance.requests import as_body
from tests.oracle.features.shadow.conftest import shadowed, writing_tool
from tests.oracle.runs.running import managed, settle, told
from tests.support.waiting import until

HANGS = says("Half of it", hang=True)


class Counted:
    """A tool's call that counts."""

    def __init__(self, text: str = "found it") -> None:
        self.asked: list[dict[str, object]] = []
        self.text = text

    async def __call__(self, arguments):
        self.asked.append(dict(arguments))
        return ToolResult(self.text)


async def test_a_call_that_the_primary_has_made_is_answered_from_its_result(store):
    tool = Counted()
    turns = [says("", calls("probe", at=1)), answers("It is here.")]
    async with shadowed(store, turns, turns, tools=[made_tool(tool)]) as it:
        await it.runs.ask()
        pair = await it.pair()
        (_, second) = it.model.requests
    assert tool.asked == [{"at": 1}]
    assert "found it" in text_of_request(as_body(second))
    assert (pair.state, pair.figures.answered, pair.figures.ran) == ("finished", 1, 0)
    assert (pair.figures.parting, pair.figures.similarity, pair.figures.disagreement) == (None, 1.0, 0.0)
    assert pair.primary_control.startswith("oracle@")
    assert pair.shadow_control == "loop"
    assert (pair.figures.primary.turns, pair.figures.primary.tools) == (2, 1)


async def test_other_reading_calls_are_run_and_writing_ones_are_only_noted(store):
    read, write = Counted(), Counted()
    shadow = [says("", calls("probe", at=2), calls("note", text="x")), answers("Elsewhere and otherwise.")]
    tools = [made_tool(read), writing_tool(write)]
    async with shadowed(store, [answers("It is here.")], shadow, tools=tools) as it:
        await it.runs.ask()
        pair = await it.pair()
        offered = {tool.name for request in it.model.requests for tool in request.tools}
    assert read.asked == [{"at": 2}]
    assert write.asked == []
    assert pair.figures.ran == 1
    assert pair.figures.would_call == (("note",) if "note" in offered else ())
    assert pair.figures.parting.shadow.tools == ("probe", "note")
    assert (pair.figures.parting.primary.kind, pair.figures.parting.primary.reason) == ("end", "completed")


async def test_a_writing_call_that_is_offered_gets_a_neutral_answer(store):
    write = Counted()
    question = "Write a note about the release plan into the vault."
    shadow = [says("", calls("note", text="x")), answers("Noted.")]
    async with shadowed(store, [answers("No.")], shadow, tools=[replace(writing_tool(write), group="vault")]) as it:
        await it.runs.ask(question)
        pair = await it.pair()
        sent = text_of_request(as_body(it.model.requests[-1]))
    assert write.asked == []
    assert pair.figures.would_call == ("note",)
    assert "The call was accepted." in sent


async def test_users_see_nothing_of_a_shadow(store):
    async with managed(store, [answers("It is here.")]) as alone:
        without = await alone.ask()
    async with shadowed(store, [answers("It is here.")], [answers("Somewhere else.")]) as it:
        seen = await it.runs.ask()
        pair = await it.pair()
        conversation = await store.conversations.load("local", seen.record.context_id)
        listed = await store.runs.page(RunFilter(user_id="local"), limit=10)
        shadows = await store.runs.page(RunFilter(shadows=True), limit=10)
        own = await store.runs.find(pair.shadow_id, user_id="local")
        page = await store.log.page(pair.shadow_id, user_id="local")
        conversations = await store.conversations.list("local")
        counted = await store.runs.count_by_tree(since=0)
    ids = {"context_id": "", "run_id": ""}
    assert [chunk | ids for chunk in seen.chunks] == [chunk | ids for chunk in without.chunks]
    assert [each.content for each in conversation.messages] == [seen.record.input["question"], "It is here."]
    assert pair.shadow_id not in [run.id for run in listed.runs]
    assert [run.id for run in shadows.runs] == [pair.shadow_id]
    assert (own, page) == (None, None)
    assert pair.shadow_id not in [each.context_id for each in conversations]
    assert counted == {"oracle": {"completed": 2}}


async def test_a_shadow_knows_what_was_said_before_its_primary_and_nothing_later(store):
    turns = [answers("The first answer."), answers("The second answer.")]
    async with shadowed(store, turns, [answers("One."), answers("Two.")]) as it:
        first = await it.runs.ask()
        await it.pairs()
        await it.runs.ask("And the other one?", context_id=first.record.context_id)
        await it.pairs()
        requests = [text_of_request(as_body(request)) for request in it.model.requests]
    assert "The first answer." not in requests[0]
    assert "The first answer." in requests[1]
    assert "The second answer." not in requests[1]
    assert "One." not in requests[1]


async def test_a_shadow_is_a_run_with_a_record_of_its_own(store):
    async with shadowed(store, [answers()], [answers("Other.")], control="oracle") as it:
        await it.runs.ask()
        pair = await it.pair()
        record = await store.runs.find(pair.shadow_id)
        ticks = await store.log.events(pair.shadow_id, kinds={"tick"})
    assert (record.shadow_of, record.status, record.answer) == (pair.primary_id, "finished", "Other.")
    assert record.user_id == "local"
    assert ticks
    assert pair.shadow_control == pair.primary_control


async def test_a_recorded_version_of_a_tree_can_be_the_control(store):
    async with managed(store, [answers()]) as it:
        sha = (await it.ask()).record.tree_sha
    async with shadowed(store, [answers()], [answers()], control=f"oracle@{sha[:10]}") as it:
        await it.runs.ask()
        pair = await it.pair()
    assert pair.shadow_control == f"oracle@{sha[:12]}"
    assert pair.state == "finished"


@pytest.mark.parametrize("control", ["oracle@0123456789", "no_such_tree"])
async def test_a_control_that_does_not_exist_is_refused(store, control):
    with pytest.raises((OperatorError, UserError), match=r"no recorded run|there is no tree"):
        async with shadowed(store, control=control):
            pass


async def test_only_questions_to_the_default_tree_are_shadowed_and_only_those_drawn(store):
    async with shadowed(store, [answers()] * 2, rate=0.0) as it:
        await it.runs.ask()
        assert await it.pairs() == []
    async with shadowed(store, [answers()]) as it:
        await it.runs.ask(tree="default")
        assert await it.pairs() == []


async def test_what_a_user_has_cancelled_is_not_shadowed(store):
    async with shadowed(store, [HANGS]) as it:
        live = await it.runs.start()
        await it.runs.until_text(live.record, "Half of it")
        live.cancel()
        await it.runs.told(live.record)
        assert await it.pairs() == []


async def test_what_does_not_fit_into_the_queue_is_dropped_and_counted(store, monkeypatch):
    monkeypatch.setattr(running, "MOST_WAITING", 1)
    async with shadowed(store, [answers()] * 3, [HANGS, answers()]) as it:
        await it.runs.ask()
        await until(lambda: len(it.model.requests) == 1)
        for _ in range(2):
            await it.runs.ask()
        assert it.shadows.cancel(it.shadows.live_id)
        pairs = await it.pairs()
        metrics = it.metrics.exposition().decode()
    assert sorted((pair.state, pair.why) for pair in pairs) == [
        ("dropped", "queue_full"), ("failed", "cancelled"), ("finished", ""),
    ]  # fmt: skip
    assert 'oracle_shadow_runs_dropped_total{reason="queue_full"} 1.0' in metrics
    assert 'oracle_shadow_runs_total{outcome="finished"} 1.0' in metrics


async def test_beyond_the_tokens_of_an_hour_shadows_are_dropped(store):
    async with shadowed(store, [answers()] * 3, [answers()] * 3, tokens_per_hour=60_000) as it:
        it.shadows._spent.append((it.runs.clock.now(), 20_000))
        await it.runs.ask()
        await it.shadows.idle()
        it.runs.clock.advance(3_601)
        await it.runs.ask()
        pairs = await it.pairs()
    assert [(pair.state, pair.why) for pair in pairs] == [("finished", ""), ("dropped", "quota")]


async def test_an_overloaded_provider_pauses_shadows(store):
    fault = ModelFault("provider_overloaded", "Too much to do.")
    async with shadowed(store, [answers()] * 3, [ScriptedTurn(fault=fault), answers()]) as it:
        await it.runs.ask()
        await it.shadows.idle()
        await it.runs.ask()
        await it.shadows.idle()
        it.runs.clock.advance(61)
        await it.runs.ask()
        pairs = await it.pairs()
    assert [(pair.state, pair.why) for pair in pairs] == [
        ("finished", ""),
        ("dropped", "provider_busy"),
        ("finished", ""),
    ]
    report = report_of(pairs)
    (group,) = report.groups
    assert (group.pairs, group.compared, report.dropped) == (2, 1, {"provider_busy": 1})


async def test_a_shadow_has_the_limits_of_its_primary(store):
    async with shadowed(store, [answers()], [answers()]) as it:
        await it.runs.ask()
        pair = await it.pair()
        record = await store.runs.find(pair.shadow_id)
        primary = await store.runs.find(pair.primary_id)
    assert record.limits == primary.limits


async def test_a_shadow_does_not_keep_a_user_from_asking(store):
    async with shadowed(store, [answers()] * 2, [HANGS, answers()]) as it:
        first = await it.runs.ask()
        await until(lambda: len(it.model.requests) == 1)
        second = await it.runs.ask(context_id=first.record.context_id)
        assert second.record.termination_reason == "completed"


async def test_deleting_the_conversation_ends_and_removes_its_shadow(store):
    async with shadowed(store, [answers()], [HANGS]) as it:
        seen = await it.runs.ask()
        await until(lambda: len(it.model.requests) == 1)
        assert await it.runs.manager.forget("local", seen.record.context_id)
        pair = await it.pair()
        assert await store.runs.find(pair.shadow_id) is None
        assert await store.log.events(pair.shadow_id) == []
    assert (pair.state, pair.question) == ("failed", "")


async def test_another_users_deletion_ends_no_shadow(store):
    async with shadowed(store, [answers()], [HANGS]) as it:
        seen = await it.runs.ask()
        await until(lambda: len(it.model.requests) == 1)
        assert not await it.runs.manager.forget("mallory", seen.record.context_id)
        await settle()
        assert it.shadows.active == 1


async def test_a_finished_shadow_goes_with_its_conversation(store):
    async with shadowed(store, [answers("A xylophone.")], [answers("The xylophone.")]) as it:
        seen = await it.runs.ask("Where is the xylophone in the code?")
        pair = await it.pair()
        await it.runs.manager.forget("local", seen.record.context_id)
        record = await store.runs.find(pair.shadow_id)
        assert await store.log.events(pair.shadow_id) == []
        rows = await store.database.read(
            lambda connection: [
                str(tuple(row))
                for table in schema.metadata.sorted_tables
                for row in connection.execute(select(table))
                if table.name not in ("prompt", "tree_version")
            ]
        )
    assert record.kept == "gone"
    assert not [row for row in rows if "xylophone" in row]


async def test_a_shadow_goes_with_the_retention_of_its_primary(store):
    async with shadowed(store, [answers()], [answers()]) as it:
        await it.runs.ask()
        pair = await it.pair()
        await store.retention.prune(older_than_s=-10, most_bytes=None)
        assert {(await store.runs.find(run)).kept for run in (pair.primary_id, pair.shadow_id)} == {"gone"}
        (left,) = await it.pairs()
    assert left.figures == pair.figures


async def test_a_shadow_is_cancelled_by_the_command_that_cancels_runs(store):
    async with shadowed(store, [answers()], [HANGS]) as it:
        await it.runs.ask()
        await until(lambda: len(it.model.requests) == 1)
        await store.commands.send(RunCommand(it.shadows.live_id, "cancel"))
        pair = await it.pair()
    assert (pair.state, pair.why) == ("failed", "cancelled")


async def test_the_end_of_the_service_ends_shadows(store):
    async with shadowed(store, [answers()] * 2, [HANGS]) as it:
        first = await it.runs.ask()
        await until(lambda: len(it.model.requests) == 1)
        await it.runs.ask()
        await it.runs.manager.drain()
        pairs = await it.pairs()
    assert sorted((pair.state, pair.why) for pair in pairs) == [("dropped", "stopping"), ("failed", "cancelled")]
    assert (await told(store, first.record)).record.termination_reason == "completed"


async def test_a_failure_within_a_shadow_is_noted_and_nothing_else(store, monkeypatch):
    async with shadowed(store, [answers()], [answers()]) as it:

        def fails(*_):
            raise ValueError("the log is damaged")

        monkeypatch.setattr("oracle.features.shadow.rehearsing.figures_of", lambda *_, **__: fails())
        seen = await it.runs.ask()
        pair = await it.pair()
        assert await store.runs.find(pair.shadow_id) is None
    assert seen.record.termination_reason == "completed"
    assert (pair.state, pair.why) == ("failed", "failed")


async def test_names_that_the_model_made_up_are_no_part_of_the_figures(store):
    shadow = [says('<signal type="xylophone">', calls("xylophone")), answers()]
    async with shadowed(store, [answers()], shadow, tools=[made_tool(numbered)]) as it:
        await it.runs.ask()
        pair = await it.pair()
    assert pair.figures.parting.shadow.tools == ("other",)
    assert "xylophone" not in str(pair)
