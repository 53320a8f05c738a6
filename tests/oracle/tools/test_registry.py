import asyncio
import json
import subprocess
import sys
import textwrap
import threading
import weakref
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from oracle.core.chunks import Source
from oracle.llm.protocol import ToolDefinition
from oracle.tools import Tool, ToolDefinitionError, ToolError, ToolRegistry, ToolResult, Workers, check_cancelled, tool


def make(call: Callable[[Any], Any], *, name: str = "probe", timeout_s: float = 30.0, writes: bool = False) -> Tool:
    return Tool(name, "A probe.", "Never.", {"type": "object"}, call, "code", writes, timeout_s)


def answering(result: Any) -> Tool:
    async def call(arguments: Any) -> Any:
        return result

    return make(call)


def raising(error: BaseException) -> Tool:
    async def call(arguments: Any) -> ToolResult:
        raise error

    return make(call)


async def call(*tools: Tool, name: str = "probe", arguments: Any = None) -> ToolResult:
    return await ToolRegistry(tools).call(name, {} if arguments is None else arguments)


def test_two_tools_with_the_same_name_are_an_error() -> None:
    with pytest.raises(ToolDefinitionError, match="two tools are named 'probe'"):
        ToolRegistry([answering(1), answering(2)])


def test_definitions_have_name_description_and_schema() -> None:
    registry = ToolRegistry([answering(1)])
    assert registry.definitions(["probe"]) == (ToolDefinition("probe", "A probe.", {"type": "object"}),)
    assert registry.names == ("probe",)
    assert registry.get("other") is None
    with pytest.raises(KeyError):
        registry.definitions(["other"])


async def test_an_unknown_tool_is_an_error_with_a_suggestion() -> None:
    result = await call(answering(1), name="prob")
    assert result == ToolResult("There is no tool 'prob'. Did you mean 'probe'? There are: probe.", is_error=True)


async def test_arguments_that_are_not_an_object_are_an_error() -> None:
    result = await call(answering(1), arguments=[1])
    assert result == ToolResult("probe: the arguments must be a JSON object, given list.", is_error=True)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ToolError("give a path"), "give a path"),
        (ValueError("no such thing"), "probe failed: ValueError: no such thing"),
        (OSError(13, "Permission denied", "/srv/secret/place"), "probe failed: PermissionError: Permission denied"),
        (TimeoutError(), "probe failed: TimeoutError"),
        (SystemExit(3), "probe failed: SystemExit: 3"),
        (asyncio.CancelledError(), "probe failed: it was cancelled from within."),
        (ValueError("x" * 9_000), "probe failed: ValueError: " + "x" * 1_000),
        (ValueError("a\x00\ud800b"), "probe failed: ValueError: a\ufffd\ufffdb"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
async def test_any_exception_of_a_tool_is_an_error_result(error: BaseException, text: str) -> None:
    assert await call(raising(error)) == ToolResult(text, is_error=True)


async def test_an_exception_in_a_thread_is_an_error_result() -> None:
    def leave() -> str:
        """Leave."""
        sys.exit(3)

    def stop() -> str:
        """Stop."""
        raise StopIteration

    tools = [tool(group="code", when_to_use="Never.")(function) for function in (leave, stop)]
    assert (await call(*tools, name="leave")).text == "leave failed: RuntimeError: SystemExit: 3"
    assert (await call(*tools, name="stop")).text == "stop failed: RuntimeError: StopIteration: "


async def test_a_result_of_another_type_is_an_error_result() -> None:
    result = await call(answering(17))
    assert result == ToolResult("probe failed: it returned int instead of a result.", is_error=True)


async def test_an_output_of_50_megabytes_is_cut_and_says_so() -> None:
    result = await call(answering(ToolResult("x" * 50_000_000)))
    assert len(result.text) <= 32_000
    assert result.text.endswith("a smaller limit, or a range of lines.]")
    assert "of 50,000,000 characters" in result.text


async def test_output_that_breaks_json_or_storage_is_repaired() -> None:
    source = Source("a\ud800.py", "code", 1, "b\x00\udfff")
    result = await call(answering(ToolResult("a\ud800\x00b\U0001f600", sources=(source,))))
    assert result.text == "a\ufffd\ufffdb\U0001f600"
    assert result.sources == (Source("a\ufffd.py", "code", 1, "b\ufffd\ufffd"),)
    json.dumps(result.text, ensure_ascii=False).encode()


async def test_a_hanging_tool_times_out() -> None:
    async def wait(arguments: Any) -> ToolResult:
        await asyncio.Event().wait()
        return ToolResult("")

    result = await call(make(wait, timeout_s=0.01))
    assert result.is_error
    assert result.text == "probe gave no answer within 0.01 s and was stopped. Ask for less."


async def test_a_writing_tool_that_times_out_says_that_it_may_have_taken_effect() -> None:
    async def wait(arguments: Any) -> ToolResult:
        await asyncio.Event().wait()
        return ToolResult("")

    assert "may have taken effect" in (await call(make(wait, timeout_s=0.01, writes=True))).text


async def test_a_tool_that_ignores_cancellation_is_abandoned() -> None:
    release = asyncio.Event()

    async def stubborn(arguments: Any) -> ToolResult:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return ToolResult("late")

    registry = ToolRegistry([make(stubborn, timeout_s=0.01)])
    result = await registry.call("probe", {})
    assert (result.is_error, "gave no answer within 0.01 s" in result.text) == (True, True)
    assert not release.is_set()  # so it was not waited for
    release.set()


async def test_cancellation_propagates_and_ends_the_tool() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def wait(arguments: Any) -> ToolResult:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ToolResult("")

    task = asyncio.create_task(ToolRegistry([make(wait)]).call("probe", {}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_a_hanging_thread_blocks_neither_the_loop_nor_other_calls() -> None:
    release = threading.Event()
    seen: list[str] = []

    def hang(name: str) -> str:
        """Hang unless `name` is quick."""
        if name != "quick":
            release.wait()
        seen.append(name)
        return name

    workers = Workers(max_running=1)
    hanging = tool(group="code", when_to_use="Never.", timeout_s=0.02, workers=workers)(hang)
    quick = tool(group="code", when_to_use="Never.", name="quick", workers=workers)(hang)
    registry = ToolRegistry([hanging, quick])
    results = await asyncio.gather(*(registry.call("hang", {"name": str(n)}) for n in range(4)))
    assert all(result.is_error for result in results)
    assert (await registry.call("quick", {"name": "quick"})).text == "quick"
    assert seen == ["quick"]
    release.set()


async def test_a_call_that_is_cancelled_while_it_waits_for_a_thread_never_starts() -> None:
    release, started = threading.Event(), threading.Event()
    seen: list[str] = []
    workers = Workers(max_running=1, max_abandoned=0)

    def first() -> None:
        started.set()
        release.wait()

    running = asyncio.create_task(workers.run(first))
    waiting = asyncio.create_task(workers.run(lambda: seen.append("waiting")))
    last = asyncio.create_task(workers.run(lambda: seen.append("last")))
    await asyncio.get_running_loop().run_in_executor(None, started.wait)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    release.set()
    await asyncio.gather(running, last)
    assert seen == ["last"]


async def test_abandoned_work_ends_at_its_next_check() -> None:
    started, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        go_on.wait()
        try:
            check_cancelled()
        finally:
            ended.set()

    task = asyncio.create_task(Workers().run(work))
    await asyncio.get_running_loop().run_in_executor(None, started.wait)
    check_cancelled()  # outside a call it does nothing
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    assert await asyncio.get_running_loop().run_in_executor(None, ended.wait, 10)


async def test_a_thread_serves_successive_calls_and_keeps_no_reference_to_earlier_ones() -> None:
    workers = Workers(max_running=1)
    argument = deque([1])
    held = weakref.ref(argument)
    threads = [await workers.run(partial(_ident_with, argument))]
    del argument
    threads += [await workers.run(threading.get_ident) for _ in range(2)]
    assert len(set(threads)) == 1
    assert held() is None


async def test_a_thread_that_is_idle_for_too_long_ends() -> None:
    thread = await Workers(idle_s=0).run(threading.current_thread)
    await asyncio.get_running_loop().run_in_executor(None, thread.join, 10)
    assert not thread.is_alive()


async def test_a_call_does_not_wait_for_a_thread_that_ends() -> None:
    release, started = threading.Event(), threading.Event()
    workers = Workers(max_running=1, max_abandoned=1, idle_s=600)

    def hang() -> None:
        started.set()
        release.wait()

    hanging = asyncio.create_task(workers.run(hang))
    await asyncio.get_running_loop().run_in_executor(None, started.wait)
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    await workers.run(threading.get_ident)
    release.set()
    async with asyncio.timeout(10):
        while workers._idle < 2:  # now two threads wait, and one is allowed
            await asyncio.to_thread(threading.get_ident)
        await workers.run(threading.get_ident)


def _ident_with(_: object) -> int:
    return threading.get_ident()


async def test_calls_beyond_the_waiting_limit_are_rejected() -> None:
    release = threading.Event()
    workers = Workers(max_running=1, max_waiting=1)
    tasks = [asyncio.create_task(workers.run(release.wait)) for _ in range(2)]
    await asyncio.wait(tasks, timeout=0)
    with pytest.raises(ToolError, match="Too many calls are waiting"):
        await workers.run(release.wait)
    release.set()
    assert await asyncio.gather(*tasks) == [True, True]


def test_a_hanging_thread_does_not_keep_the_process_alive() -> None:
    program = """
        import asyncio, threading
        from oracle.tools import ToolRegistry, tool

        def hang() -> str:
            "Never return."
            threading.Event().wait()
            return ""

        registry = ToolRegistry([tool(group="code", when_to_use="Never.", timeout_s=0.01)(hang)])
        print(asyncio.run(registry.call("hang", {})).is_error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, timeout=60, check=True)
    assert done.stdout.decode().splitlines()[-1] == "True"
