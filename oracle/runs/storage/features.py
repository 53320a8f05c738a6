"""The parts of the store that keep tables beside the log: the one list of them."""

from collections.abc import Collection
from typing import Final

from sqlalchemy import Connection

from oracle.core.features import installed_features
from oracle.core.loading import imported
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
    trees,
    usage,
    user_settings,
    webhooks,
)
from oracle.runs.storage.parts import Keeping, Loss

_MODULES = (
    *(commands, client_runs, breakpoints, prompts, interrupts, request_keys, feedback, histories),
    *(trees, usage, webhooks, user_settings, keys),
)
OF_FEATURES: Final[tuple[Keeping, ...]] = tuple(
    imported(place) for feature, _ in installed_features().values() for place in feature.tables
)
"""The tables of an installation's features, including those that are left out."""
FEATURES: Final[tuple[Keeping, ...]] = (*(module.KEEPING for module in _MODULES), *OF_FEATURES)


def take_from_features(connection: Connection, run_ids: Collection[str], loss: Loss) -> None:
    """Delete from all of them what runs lose."""
    for feature in FEATURES:
        feature.with_runs(connection, run_ids, loss)
