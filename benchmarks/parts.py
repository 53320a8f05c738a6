"""What benchmarks share: an `Oracle` over a model of their own that waits for nothing, and the least time of rounds."""

import logging
import time
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Literal

import structlog

from bt_runtime import ReloadingTrees, SystemClock, TreeLibrary
from oracle.agent.answering import Oracle
from oracle.agent.conversations.memory import MemoryConversations
from oracle.agent.conversations.protocol import Conversations
from oracle.agent.equipment import Equipment
from oracle.agent.nodes import REGISTRY
from oracle.llm.protocol import Model
from oracle.tools import ToolRegistry
from prompts import load_segments
from trees import FOLDER


def quiet() -> None:
    """Log warnings only, as in production."""
    wrapper = structlog.make_filtering_bound_logger(logging.WARNING)
    structlog.configure(wrapper_class=wrapper, cache_logger_on_first_use=True)


def least_ms(work: Callable[[], object], *, rounds: int) -> float:
    """The least processor time of some rounds: what else the machine does only adds to it."""
    found = []
    for _ in range(rounds):
        started_s = time.process_time()
        work()
        found.append((time.process_time() - started_s) * 1000)
    return min(found)


def oracle_over(
    model: Model,
    tools: ToolRegistry,
    *,
    control: Literal["tree", "loop"] = "tree",
    thinking_tokens: int = 0,
    conversations: Conversations | None = None,
    trees: Sequence[Path] = (),
) -> Oracle:
    """The shipped trees and prompts over a model and tools, and conversations in memory unless others are given.

    The trees in the folders `trees` come before the shipped ones.
    """
    ids = count()
    equipment = Equipment(
        model=model,
        tools=tools,
        segments=load_segments(),
        clock=SystemClock(),
        timestamp=lambda: "2026-01-01T00:00:00Z",
        thinking_tokens=thinking_tokens,
    )
    return Oracle(
        equipment=equipment,
        trees=ReloadingTrees(TreeLibrary([*trees, FOLDER], registry=REGISTRY)),
        conversations=conversations or MemoryConversations(new_id=lambda: f"c{next(ids)}"),
        new_id=lambda: f"r{next(ids)}",
        control=control,
    )
