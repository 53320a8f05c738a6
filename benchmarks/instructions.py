"""Processor instructions of a turn, which do not depend on what else the machine does.

`callgrind` (of valgrind) counts them while a query runs in a process of its own; loading and warming up are not
counted. The hash seed is fixed, and no cyclic garbage is collected, so two measurements differ by less than 1 %.
"""

import asyncio
import gc
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from types import CodeType

Query = Callable[[], Awaitable[None]]
CALLGRIND = ("valgrind", "--tool=callgrind", "--instr-atstart=no")
_WARM_UPS = 8
"""Queries before one is counted: the interpreter specializes a function after some calls."""
_PROGRAMS = ("valgrind", "callgrind_control")
MISSING = "valgrind is not installed (apt-get install valgrind): instructions are not counted"


def can_count() -> bool:
    """Whether instructions can be counted here."""
    return all(shutil.which(name) for name in _PROGRAMS)


def interpreter() -> str:
    """What the figures are measured with."""
    loop = asyncio.new_event_loop()
    loop.close()
    kind = type(loop).__module__.partition(".")[0]
    build = " ".join(platform.python_build())
    version = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{version} ({build}, {platform.python_compiler()}), loop of {kind}"


def instructions_of(module: str, names: Iterable[str]) -> dict[str, int]:
    """The instructions of one query of each contender.

    Args:
        module: has `contenders()`, by name coroutine functions that answer one query.
        names: of those that are counted, one after the other in one process.
    """
    found: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [
                *CALLGRIND,
                "--callgrind-out-file=out.%p",
                sys.executable,
                "-m",
                "benchmarks.instructions",
                module,
                *names,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(Path(__file__).parent.parent)},
            cwd=folder,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None

        for number, name in enumerate(names, start=1):
            for expected, switches in (("ready", ["--instr=on"]), ("done", ["--dump", "--instr=off"])):
                said = process.stdout.readline().strip()
                assert said == f"{name} {expected}", said
                for switch in switches:
                    control(process.pid, switch)
                process.stdin.write("\n")
                process.stdin.flush()
            found[name] = total_of(Path(folder) / f"out.{process.pid}.{number}")
        process.stdin.close()
        process.wait()
    return found


def control(pid: int, option: str) -> None:
    """Switch the counting in a process that runs under `CALLGRIND`: `--instr=on`, `--instr=off`, `--dump`."""
    subprocess.run(["callgrind_control", option, str(pid)], check=True, capture_output=True)


def total_of(dump: Path) -> int:
    """The instructions that a dump has counted."""
    found = re.search(r"^totals: (\d+)", dump.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None, dump
    return int(found[1])


async def path_of(query: Query) -> tuple[int, int]:
    """The functions in Python that a query runs in this thread, and the bytes of their bytecode."""
    codes: set[CodeType] = set()
    sys.setprofile(lambda frame, event, _: codes.add(frame.f_code) if event == "call" else None)
    try:
        await query()
    finally:
        sys.setprofile(None)
    return len(codes), sum(len(code.co_code) for code in codes)


async def _counted(contenders: Mapping[str, Query], names: Iterable[str]) -> None:
    """Answer one query of each contender between two lines on standard output, each of which is answered by a line."""
    for name in names:
        query = contenders[name]
        for _ in range(_WARM_UPS):
            await query()
        gc.collect()
        gc.disable()
        print(name, "ready", flush=True)
        sys.stdin.readline()
        await query()
        print(name, "done", flush=True)
        sys.stdin.readline()
        gc.enable()


if __name__ == "__main__":
    from importlib import import_module

    from benchmarks.parts import quiet

    quiet()
    asyncio.run(_counted(import_module(sys.argv[1]).contenders(), sys.argv[2:]))
