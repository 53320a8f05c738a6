"""A debugger of runs in tests: what an operator does, without HTTP."""

import asyncio
from typing import Any

from oracle.runs.debugging.commands import CommandKind, DebugCommand
from oracle.runs.debugging.debugger import Debugger
from oracle.runs.live import LiveRun
from oracle.runs.record.debug import DebugState, Standing
from oracle.runs.storage.breakpoints import Breakpoint
from oracle.runs.storage.records import RunRecord
from tests.oracle.runs.running import PATIENCE_S, Managed

LLM_TURN = "finally/sequence/turns/sequence/llm_turn"
"""In the shipped tree."""


class Operator:
    """Debugs runs by one manager."""

    def __init__(self, it: Managed) -> None:
        assert it.debugger is not None
        self.it = it
        self.debugger: Debugger = it.debugger

    async def breaks(self, name: str, **more: Any) -> Breakpoint:
        """Set a breakpoint."""
        new = Breakpoint(name, created_by="olga", **{"kind": "node", **more})
        await self.it.store.breakpoints.add(new)
        await self.debugger.announce(new)
        return new

    async def does(self, live: LiveRun | RunRecord, kind: CommandKind, **more: Any) -> None:
        """Send a command."""
        record = live.record if isinstance(live, LiveRun) else live
        run = await self.it.store.runs.find(record.id)
        assert run is not None
        await self.debugger.command(run, DebugCommand(kind, "olga", **more))

    async def until(
        self, live: LiveRun | RunRecord, standing: Standing, *, tick: int | None = None, after: int = -1
    ) -> DebugState:
        """Wait until a run stands so."""
        record = live.record if isinstance(live, LiveRun) else live
        async with asyncio.timeout(PATIENCE_S):
            while True:
                await self.it.store.write(lambda _: None)
                state = await self.debugger.state(record)
                if state.standing == standing and tick in (None, state.tick) and state.tick > after:
                    return state


def notices(chunks: list[dict[str, Any]]) -> list[str]:
    """The messages of a stream that are about pauses."""
    return [chunk["system_message"] for chunk in chunks if chunk.get("system_type") == "paused"]
