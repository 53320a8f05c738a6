"""What a run costs the service's process, taken apart: a run of one turn, each further turn, each piece of text.

Three loads: short runs of one turn, runs of several turns, and runs with many pieces. A least-squares fit over them
gives the three figures, so that none hides in another. They are processor time of the server's process, that of the
paced model included, and stand beside those of the bare app under the same loads.
"""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Final

import numpy as np
import uvloop

from benchmarks.instructions import CALLGRIND, control, total_of
from benchmarks.paced import Pace
from benchmarks.processes import ServerProcess
from benchmarks.service_load import bare_server, complain, load, made_folder, oracle_server

AIM_RUN_MS: Final = 6.0

_SHORT: Final = (Pace(1, 2, 0.02), 100)
_LOADS: Final = (_SHORT, (Pace(5, 2, 0.02), 40), (Pace(1, 60, 0.6), 40))
"""Each with its number of runs, which begin over `_RAMP_S`."""
_RAMP_S: Final = 2.5
_TIMES_OF_BARE: Final = 3
"""As many times the bare app has each load, one after the other: what it takes is little to measure."""
_WARM: Final = 20
_COUNTED: Final = 20
"""Runs whose instructions are counted."""


@dataclass(frozen=True, slots=True)
class RunCosts:
    """Processor time of the server's process.

    Args:
        run_ms: of a run of one turn, whatever it says.
        turn_ms: of each further turn, with the tool call before it.
        piece_us: of each piece of text.
    """

    run_ms: float
    turn_ms: float
    piece_us: float


def fitted(measured: Sequence[tuple[Pace, float]]) -> RunCosts:
    """The costs that explain best what runs of different lengths take; each length with the seconds of one run."""
    rows = [(1, pace.turns - 1, pace.turns * pace.pieces) for pace, _ in measured]
    found, *_ = np.linalg.lstsq(np.array(rows, float), np.array([cpu_s for _, cpu_s in measured]), rcond=None)
    return RunCosts(found[0] * 1e3, found[1] * 1e3, found[2] * 1e6)


async def run_instructions_over_bare() -> float:
    """The processor instructions of a run of one turn and two pieces, in those of the bare app."""
    with tempfile.TemporaryDirectory() as name:
        counted = [f"--callgrind-out-file={name}/out.%p"]
        floor, done = [
            await _instructions_of(server, Path(name)) for server in _servers(Path(name), under=[*CALLGRIND, *counted])
        ]
    return done / floor


async def show_costs(folder: Path) -> None:
    """Print the figures of the service and of the bare app."""
    floor, done = [fitted(await _measured(server, _LOADS)) for server in _servers(folder)]
    print(f"what a run costs (aim: a run of one turn without its pieces {AIM_RUN_MS:g} ms at most)")
    for name, costs in (("bare ASGI", floor), ("Oracle", done)):
        run_ms, turn_ms, piece_us = astuple(costs)
        print(f"  {name:<12} a run {run_ms:6.2f} ms   each further turn {turn_ms:5.2f} ms   a piece {piece_us:5.0f} µs")
    ratios = (of / over for of, over in zip(astuple(done), astuple(floor), strict=True))
    print("  ratio        a run {:6.1f}      each further turn {:5.1f}      a piece {:5.1f}".format(*ratios))


def _servers(folder: Path, *, under: Sequence[str] = ()) -> tuple[ServerProcess, ServerProcess]:
    """The bare app and the service, not started."""
    longest = max((pace for pace, _ in _LOADS), key=lambda pace: pace.turns)
    return (
        bare_server(made_folder(folder, "bare"), longest, under=under),
        oracle_server(made_folder(folder, "oracle"), longest, under=under),
    )


async def _instructions_of(server: ServerProcess, folder: Path) -> int:
    """Those of `_COUNTED` short runs, one after the other; those before them, which warm up, are not counted."""
    pace, _ = _SHORT
    async with server:
        for number in range(_WARM + _COUNTED):
            if number == _WARM:
                control(server.pid, "--instr=on")
            complain(await load(server, 1, pace=pace, ramp_s=0), pace)
        control(server.pid, "--dump")
        return total_of(folder / f"out.{server.pid}.1")


async def _measured(server: ServerProcess, loads: Sequence[tuple[Pace, int]]) -> list[tuple[Pace, float]]:
    """The seconds of a run of each load."""
    async with server:
        await load(server, _WARM, pace=_LOADS[1][0], ramp_s=0.4)
        return [(pace, await _seconds_of(server, pace, runs)) for pace, runs in loads]


async def _seconds_of(server: ServerProcess, pace: Pace, runs: int) -> float:
    done = [await load(server, runs, pace=pace, ramp_s=_RAMP_S)]
    if done[0].heard[0].run_id == "bare":
        done += [await load(server, runs, pace=pace, ramp_s=_RAMP_S / 2) for _ in range(_TIMES_OF_BARE - 1)]
    else:
        complain(done[0], pace)
    return sum(each.cpu_s for each in done) / len(done) / runs


def main(_arguments: Sequence[str] = ()) -> None:
    with tempfile.TemporaryDirectory() as name:
        uvloop.run(show_costs(Path(name)))


if __name__ == "__main__":
    main(sys.argv[1:])
