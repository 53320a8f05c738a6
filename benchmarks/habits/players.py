"""Who controls: the shipped tree, the plain loop, and the control that both have replaced."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal

from bt_runtime import ReloadingTrees, SystemClock, TreeLibrary
from oracle.agent.answering import Oracle
from oracle.agent.conversations.memory import MemoryConversations
from oracle.agent.equipment import Equipment
from oracle.agent.nodes import REGISTRY
from oracle.llm.protocol import Model
from oracle.tools import ToolRegistry
from prompts import load_segments
from trees import FOLDER

PlayerName = Literal["tree", "loop", "legacy"]

LEGACY = """\
tree: legacy
description: The control of before. All reading tools for every question, no detection; the model decides alone.
root:
  sequence:
    - classify_query
    - compose_prompt
    - force_success: offer_all_reading_tools
    - loop:
        until: termination_reason
        guards: [cancelled, turn_budget, token_budget, deadline]
        child:
          sequence:
            - llm_turn
            - selector:
                - sequence: [condition: tool_calls > 0, run_tools]
                - sequence: [condition: cut_off or signal == "need_turn", grant_turn]
                - stop: completed
"""
LEGACY_FILE = "legacy.yaml"


@dataclass(frozen=True)
class Player:
    """A control.

    Args:
        name: for the tables.
        tree: what a question names to get it.
        limits: of a query; the rest are the defaults.
    """

    name: PlayerName
    tree: str
    limits: Mapping[str, Any] = field(default_factory=dict)


PLAYERS = (
    Player("tree", "oracle"),
    Player("loop", "default"),
    Player("legacy", "legacy", {"max_iterations": 30, "token_budget": 200_000}),
)
"""Tree and loop have the limits that a user has who sets none."""


def oracle_with_legacy(
    model: Model,
    tools: ToolRegistry,
    *,
    trees: Path,
    clock: Callable[[], SystemClock] = SystemClock,
    thinking_tokens: int = 0,
    max_output_tokens: int = 8192,
) -> Oracle:
    """An `Oracle` that has all three controls.

    Args:
        model: answers.
        tools: all tools.
        trees: an empty folder, which gets the tree of the control of before.
        clock: makes the clock.
        thinking_tokens: of a turn, at most; 0 turns thinking off.
        max_output_tokens: of a turn, thinking included.
    """
    (trees / LEGACY_FILE).write_text(LEGACY, encoding="utf-8")
    ids = count()
    equipment = Equipment(
        model=model,
        tools=tools,
        segments=load_segments(),
        clock=clock(),
        timestamp=lambda: "2026-03-20T12:00:00Z",
        project="ferry",
        folders=("src", "tests"),
        thinking_tokens=thinking_tokens,
        max_output_tokens=max_output_tokens,
    )
    return Oracle(
        equipment=equipment,
        trees=ReloadingTrees(TreeLibrary([trees, FOLDER], registry=REGISTRY)),
        conversations=MemoryConversations(new_id=lambda: f"c{next(ids)}"),
        new_id=lambda: f"r{next(ids)}",
    )
