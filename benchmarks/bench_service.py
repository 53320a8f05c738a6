"""Load: hundreds of streams at once from one server process, and recorded runs read again, over a bare ASGI app.

The model speaks 50 pieces over 2 s in each of 5 turns, with a tool call between them; it is in the server's process
(with `--wire` it is behind the provider's wire, in a third process, and the server is `oracle serve` as it is). Every
stream is checked (`benchmarks.service_load`).

Processor time is that of a piece of the model, whether it came as a chunk of its own or joined with others, so that
joining cannot hide work. It has a share of the run's start, of its turns and of its tool calls, which
`benchmarks.run_costs` then takes apart. The aims, each printed
beside its figure: at 200 streams 3 times the bare app's, and p99 from piece to client under 40 ms; at 500 streams p99
under 150 ms; recorded runs are read at half the bare app's rate or better, and at 1.66 times the rate at which it sends
them event by event. The bare app is uvicorn with the same loop and parser that keeps nothing and sends the same bytes.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import uvloop

from benchmarks.paced import Pace, make_project
from benchmarks.processes import ServerProcess, python
from benchmarks.run_costs import show_costs
from benchmarks.service_client import ServiceClient
from benchmarks.service_load import Load, bare_server, complain, load, made_folder, oracle_server, paced_options

AIM_MS = 150
AIM_MS_OF_200 = 40
AIM_CPU = 3.0
AIM_RATIO = 0.5
AIM_OF_EACH = 1.66
AIM_KB = 80
STREAMS = (200, 500)
READERS = 8
READ_S = 4.0


async def read_again(
    address: str, run_ids: Sequence[str], *, seconds: float, readers: int = READERS, options: str = ""
) -> float:
    """How many recorded runs a second clients read from their first chunk on, on kept connections."""
    until = time.monotonic() + seconds
    count = 0

    async def reader(first: int) -> None:
        nonlocal count
        tail = bytearray()

        def take(body: bytes) -> None:
            tail[:] = (tail + body)[-400:]

        client = await ServiceClient.connect(address, on_body=take)
        number = first
        while time.monotonic() < until:
            tail.clear()
            client.send("GET", f"/api/oracle/runs/{run_ids[number % len(run_ids)]}/stream?after=0{options}")
            await client.headers_came()
            await client.ended()
            assert client.status == 200, client.status
            assert b'"done"' in tail, bytes(tail)
            number, count = number + readers, count + 1
        client.close()

    began = time.monotonic()
    await asyncio.gather(*(reader(first) for first in range(readers)))
    return count / (time.monotonic() - began)


async def recorded_bytes(address: str, run_id: str) -> bytes:
    """A recorded run as it is sent."""
    parts: list[bytes] = []
    client = await ServiceClient.connect(address, on_body=parts.append)
    client.send("GET", f"/api/oracle/runs/{run_id}/stream?after=0")
    await client.ended()
    client.close()
    return b"".join(parts)


def wired_server(folder: Path, pace: Pace, provider: str) -> ServerProcess:
    """`oracle serve`, with its provider's address set to the paced one."""
    project = make_project(folder / "project", pace)
    env = {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": provider, "ORACLE_LLM": "anthropic"}
    command = python("-m", "oracle", "serve", "--port", "0", "--data-dir", str(folder / "data"))
    return ServerProcess([*command, "--project", str(project)], log=folder / "oracle.log", env=env)


def _show(name: str, done: Load, floor: Load | None) -> None:
    ratio = "   1.0" if floor is None else f"{done.cpu_us / floor.cpu_us:6.1f}"
    figures = "  ".join(f"{done.late_ms(share):7.1f}" for share in (0.5, 0.99, 0.999, 1.0))
    cpu = f"{done.cpu_us:6.0f} µs {ratio}   {done.cpu_s / done.wall_s:4.0%}"
    print(f"  {name:<22} {figures}   {cpu}   {done.chunks_of_a_piece:.2f}   {done.run_kb:6.0f} KB")


async def measure(streams: Sequence[int], pace: Pace, *, wire: bool) -> None:
    print(f"load: {pace.turns} turns of {pace.pieces} pieces over {pace.turn_s:g} s; one server process")
    print(
        "  from piece to client (ms): p50 / p99 / p99.9 / most; CPU of a piece, ratio, share of a core; content chunks "
        "of a piece; memory of a run"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for count in streams:
            await _measure_load(made_folder(folder, str(count)), count, pace, wire=wire)
        if not wire:
            await show_costs(made_folder(folder, "costs"))
            await _measure_reading(made_folder(folder, "reading"), pace)


async def chunk_over_bare() -> float:
    """The processor time of a piece of the model, in pieces of the bare app, under a load that is no overload."""
    pace, streams = Pace(5, 50, 0.8), 40
    with tempfile.TemporaryDirectory() as name:
        loads = []
        for make in (bare_server, oracle_server):
            async with make(made_folder(Path(name), make.__name__), pace) as server:
                await load(server, 2, ramp_s=0)
                loads.append(await load(server, streams))
    floor, done = loads
    complain(done, pace)
    return done.cpu_us / floor.cpu_us


async def _measure_load(folder: Path, streams: int, pace: Pace, *, wire: bool) -> None:
    async with bare_server(folder, pace) as server:
        await load(server, 2, ramp_s=0)
        floor = await load(server, streams)
    _show(f"bare ASGI, {streams} streams", floor, None)
    if wire:
        provider = ServerProcess(
            python("-m", "benchmarks.paced_provider", *paced_options(pace)), log=folder / "provider.log"
        )
        async with provider, wired_server(folder, pace, provider.address) as server:
            await load(server, 2, ramp_s=0)
            done = await load(server, streams)
    else:
        async with oracle_server(folder, pace) as server:
            await load(server, 2, ramp_s=0)
            done = await load(server, streams)
    _show(f"Oracle, {streams} streams", done, floor)
    late = f"p99 {done.late_ms(0.99):.0f} ms"
    if streams == STREAMS[0]:
        print(f"    {done.cpu_us / floor.cpu_us:.1f} times bare ASGI's processor time (aim: {AIM_CPU} at most)")
        print(f"    {late} (aim: under {AIM_MS_OF_200} ms)")
    elif streams == STREAMS[1]:
        print(f"    {late} (aim: under {AIM_MS} ms)")
        print(f"    {done.run_kb:.0f} KB for a run under way (aim: {AIM_KB} KB at most)")
    complain(done, pace)


async def _measure_reading(folder: Path, pace: Pace) -> None:
    quick = Pace(pace.turns, pace.pieces, 0.2)
    async with oracle_server(folder, quick) as server:
        done = await load(server, 50)
        complain(done, quick)
        run_ids = [heard.run_id for heard in done.heard]
        recorded = await recorded_bytes(server.address, run_ids[0])
        await read_again(server.address, run_ids, seconds=0.5)
        used_s = server.cpu_s
        rate = await read_again(server.address, run_ids, seconds=READ_S)
        used_s = server.cpu_s - used_s
    async with bare_server(folder, quick, recorded=recorded) as server:
        await read_again(server.address, run_ids, seconds=0.5)
        floor = await read_again(server.address, run_ids, seconds=READ_S)
        each = await read_again(server.address, run_ids, seconds=READ_S, options="&each")
    chunks = len(done.heard[0].numbers)
    print(f"recorded runs read again, {chunks} chunks and {len(recorded) / 1000:.0f} KB each, {READERS} at once")
    share = f"(aims: {AIM_OF_EACH}, and {AIM_RATIO} of one write)   {used_s / (rate * READ_S) * 1000:.2f} ms CPU a run"
    for name, found, note in (
        ("bare ASGI, one write", floor, ""),
        ("bare ASGI, a write an event", each, ""),
        ("Oracle", rate, f"; {rate / each:.2f} of a write an event   {share}"),
    ):
        print(f"  {name:<28}{found:7.0f} runs/s {found * chunks / 1000:6.0f} k chunks/s   {found / floor:.2f}{note}")


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, nargs="+", default=list(STREAMS))
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--pieces", type=int, default=50)
    parser.add_argument("--turn-s", type=float, default=2.0)
    parser.add_argument("--wire", action="store_true", help="`oracle serve` as it is, its provider in a third process")
    given = parser.parse_args(arguments)
    if given.wire:
        os.environ.setdefault("ORACLE_LOG", "warning")
    uvloop.run(measure(given.streams, Pace(given.turns, given.pieces, given.turn_s), wire=given.wire))


if __name__ == "__main__":
    main(sys.argv[1:])
