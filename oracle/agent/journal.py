"""The record of a query's outcomes and signals, in addition to its chunks and tick records."""

from collections.abc import Sequence
from typing import Protocol

import bt_runtime
from bt_runtime import Outcome
from oracle.agent.requests import RequestRecord
from oracle.agent.rule_gate import RuleBreach
from signals import SignalRecord


class QueryJournal(bt_runtime.Journal, Protocol):
    """Where a query's outcomes and signals are kept.

    The values of outcomes are `TurnOutcome`, `ToolsOutcome`, or JSON data of the tree's other nodes.
    """

    def request(self, record: RequestRecord, *, prompt: str) -> None:
        """A turn begins, with this system prompt; must not wait."""
        ...

    def intend(self, call_id: str, tool: str, *, step: str, at: str) -> None:
        """A tool that writes is about to be called, for the first time at `at`; must not wait, but `flush` follows."""
        ...

    def signal(self, record: SignalRecord) -> None:
        """A signal of the model, and what the control did about it; must not wait."""
        ...

    def rule(self, breach: RuleBreach) -> None:
        """A rule of the tree was broken, and what was done about it; must not wait."""
        ...


class NoJournal:
    """Keeps nothing: for queries that live in memory only."""

    async def keep(self, outcomes: Sequence[Outcome]) -> None:
        """Forget them."""

    def begin_tick(self) -> None:
        """Nothing is kept together."""

    def end_tick(self) -> None:
        """Nothing was."""

    async def flush(self) -> None:
        """Nothing waits."""

    def request(self, record: RequestRecord, *, prompt: str) -> None:
        """Forget it."""

    def intend(self, call_id: str, tool: str, *, step: str, at: str) -> None:
        """Forget it."""

    def signal(self, record: SignalRecord) -> None:
        """Forget it."""

    def rule(self, breach: RuleBreach) -> None:
        """Forget it."""
