"""What a recording of a debugged run is good for afterwards."""

import pytest

from oracle.cli.run_view.board import values_before
from oracle.cli.run_view.headline import cause_of
from oracle.histories import read_history
from oracle.nodes import REGISTRY
from oracle.replays import read_run
from oracle.scenarios.recorded import UnscriptableError, scenario_of
from oracle.storage import Store, open_archive
from tests.acceptance.harness import answers
from tests.oracle.debugging.sessions import LLM_TURN, Operator
from tests.oracle.runs.running import managed


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
        with pytest.raises(UnscriptableError, match=r"an operator has changed it while it ran \(tick 2\)"):
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
    values = values_before(history, 2)
    assert values["hint"] == "Be brief."
    assert not [name for name in values if name.startswith("force:")]
