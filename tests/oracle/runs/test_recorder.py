from bt_runtime import Outcome
from bt_runtime.testing import FakeClock
from oracle.agent.outcomes import CallResult, ToolsOutcome
from oracle.decision import Action
from oracle.metrics import Metrics
from oracle.models.protocol import ToolCall
from oracle.runs.recorder import Backlog, RunRecorder
from oracle.storage import NewRun, Store
from tests.oracle.runs.running import CODE_QUESTION


async def test_a_call_whose_result_was_not_sent_is_measured_without_a_duration(store: Store) -> None:
    new = NewRun("run-1", "local", "context-1", "oracle", {"question": CODE_QUESTION}, {}, timeout_s=120.0)
    log, metrics = store.log.writer(await store.runs.begin(new)), Metrics()
    recorder = RunRecorder(
        log=log,
        backlog=Backlog(log, patience_s=30.0, most_bytes=1_000, is_well=lambda: True),
        clock=FakeClock(),
        started_s=0.0,
        metrics=metrics,
        on_done=lambda: None,
        on_unwritable=lambda: None,
    )
    action = Action.from_call("probe", {}, is_error=True, result_digest="0")
    call = ToolCall("c1", "probe", {})
    result = CallResult(call, "no", is_error=True, counts=True, is_empty=False, group=None, action=action)
    await recorder.keep([Outcome("run_tools@1", "done", ToolsOutcome((result,)))])
    figures = metrics.exposition().decode().splitlines()
    of_tools = [line for line in figures if line.startswith(("oracle_tool_seconds_sum", "oracle_tool_seconds_count"))]
    assert [line.rpartition(" ")[2] for line in of_tools] == ["1.0", "0.0"]
