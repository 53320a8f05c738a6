"""What a recording of a debugged run is good for afterwards."""

from io import StringIO

import pytest

from oracle.agent.nodes import REGISTRY
from oracle.cli.run_view.page import Sections, cause_of, run_page, tick_line, values_before
from oracle.cli.run_view.screen import Screen
from oracle.core.errors import UserError
from oracle.features.scenarios.recorded import scenario_of
from oracle.replay.exports.redaction import without_texts
from oracle.replay.histories.codec import history_to_json
from oracle.replay.histories.foreign import history_from_json
from oracle.replay.histories.model import History
from oracle.replay.histories.naming import debug_words
from oracle.replay.histories.reading import read_history
from oracle.replay.recorded import read_run
from oracle.runs.record.figures import LogFigures
from oracle.runs.storage.archive import open_archive
from oracle.runs.storage.store import Store
from tests.acceptance.harness import answers
from tests.oracle.runs.debugging.sessions import LLM_TURN, Operator
from tests.oracle.runs.running import managed


def shown(history: History, position: int) -> str:
    """The view of a run at a tick, as it is printed."""
    stream = StringIO()
    page = run_page(history, position, width=160, sections=Sections(), now=0.0)
    Screen("never", stream=stream, environ={"COLUMNS": "160"}).write(page.parts)
    return stream.getvalue()


@pytest.mark.parametrize("is_changed", [False, True])
async def test_a_scenario_is_made_of_a_run_that_was_paused_and_not_of_one_that_was_changed(
    store: Store, url: str, is_changed: bool
) -> None:
    async with managed(store, [answers()], debug_lease_s=120) as it:
        olga = Operator(it)
        await olga.breaks("b1", tree="oracle", path=LLM_TURN)
        live = await it.start()
        await olga.until(live, "paused")
        if is_changed:
            await olga.does(live, "set", key="hint", value="Be brief.")
        await olga.does(live, "resume")
        record = (await it.told(live.record)).record
    async with open_archive(url) as archive:
        run = await read_run(archive, record)
    if is_changed:
        with pytest.raises(UserError, match=r"an operator has changed it while it ran \(tick 2\)"):
            scenario_of(run, registry=REGISTRY)
    else:
        assert scenario_of(run, registry=REGISTRY).expect["notices"] == []


async def test_the_history_and_the_view_of_a_debugged_run_say_what_the_operator_did(store: Store, url: str) -> None:
    async with managed(store, [answers()], debug_lease_s=120) as it:
        olga = Operator(it)
        await olga.breaks("b1", tree="oracle", path=LLM_TURN)
        live = await it.start()
        await olga.until(live, "paused")
        await olga.does(live, "set", key="hint", value="Be brief.")
        await olga.does(live, "force", path=LLM_TURN, result="failure")
        await olga.does(live, "resume")
        record = (await it.told(live.record)).record
    async with open_archive(url) as archive:
        history = await read_history(archive, record, registry=REGISTRY)
    assert not history.problem
    tick = history.ticks[1]
    assert "An operator forces the result of" in tick.headline
    assert cause_of(tick) == 'from outside: hint "Be brief.", llm_turn forced to failure'
    done = [debug_words(history, each) for each in history.debug]
    assert done == [
        "paused by a breakpoint before llm_turn",
        'hint set to "Be brief." by olga',
        "llm_turn forced to failure by olga",
        f"resumed after {history.debug[-1].paused_s:,.1f} s by olga",
    ]
    assert {each.tick for each in history.debug} == {2}
    assert history_from_json(history_to_json(history)) == history
    assert 'Before this tick: paused by a breakpoint before llm_turn; hint set to "Be brief." by olga;' in shown(
        history, 1
    )
    assert "hint set to" not in shown(history, 0)
    assert "forced to failure by olga" in tick_line(history, tick).plain
    assert "olga" not in history_to_json(without_texts(history)).decode()
    assert all(each.visits for each in history.ticks)
    values = values_before(history, 2)
    assert values["hint"] == "Be brief."
    assert not [name for name in values if name.startswith("force:")]
    await store.retention.drop_texts(older_than_s=-1.0, new_reducer=LogFigures)
    async with open_archive(url) as archive:
        left = await read_history(archive, await archive.find(record.id), registry=REGISTRY)
        assert [each.what for each in left.debug] == ["paused", "set", "forced", "resumed"]
        assert [each.value for each in left.debug if each.what == "set"] == [{"characters": 9}]
        await store.conversations.forget(record.user_id, record.context_id)
        gone = await read_history(archive, await archive.find(record.id), registry=REGISTRY)
        assert gone.debug == []
