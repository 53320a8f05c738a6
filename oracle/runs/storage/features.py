"""The parts of the store that keep tables beside the log: the one list of them."""

from collections.abc import Collection
from typing import Final

from sqlalchemy import Connection

from oracle.runs.storage import (
    breakpoints,
    client_runs,
    commands,
    feedback,
    histories,
    interrupts,
    keys,
    prompts,
    request_keys,
    shadow_pairs,
    trees,
    usage,
    user_settings,
    webhooks,
)
from oracle.runs.storage.parts import Keeping, Loss

_MODULES = (
    *(commands, client_runs, breakpoints, prompts, interrupts, request_keys, feedback, histories),
    *(trees, usage, shadow_pairs, webhooks, user_settings, keys),
)
FEATURES: Final[tuple[Keeping, ...]] = tuple(module.KEEPING for module in _MODULES)


def take_from_features(connection: Connection, run_ids: Collection[str], loss: Loss) -> None:
    """Take from all of them what runs lose."""
    for feature in FEATURES:
        feature.with_runs(connection, run_ids, loss)
