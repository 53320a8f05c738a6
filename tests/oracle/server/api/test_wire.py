"""The wire, byte by byte: what a client of the stream has been promised never changes by accident."""

from pathlib import Path

from bt_runtime.testing import FakeClock
from oracle.llm.protocol import ModelFault, Usage
from oracle.testing import ScriptedCall, ScriptedTurn

GOLDEN = Path(__file__).with_name("wire.txt")
CALL = ScriptedTurn(
    thinking="Where could it be?",
    text=("Let me look", ". "),
    tool_calls=(ScriptedCall("read_file", {"path": "login.py"}), ScriptedCall("read_file", {"path": "nope.py"})),
    usage=Usage(input_tokens=700, output_tokens=40),
)
ANSWER = ScriptedTurn(
    text=('It is "here": ', "`log_in` \u2013 in <b>login.py</b>\u2028.\n"),
    usage=Usage(input_tokens=900, output_tokens=60),
    fault=ModelFault("provider_overloaded", "the provider is overloaded"),
)


async def test_a_whole_stream_is_what_it_has_always_been(start, tmp_path):
    (tmp_path / "login.py").write_text("def log_in(user):\n    return user\n")
    service = await start([CALL, ANSWER], clock=FakeClock(jump=False))
    streamed = await service.ask(
        "Where in the code is the login function?", limits={"max_iterations": 3, "max_parallel_tools": 1}
    )
    assert {"thinking", "content", "source", "tool_call", "tool_result", "system", "error", "done"} == set(
        streamed.types
    )
    assert streamed.raw.decode() == GOLDEN.read_text(encoding="utf-8")
