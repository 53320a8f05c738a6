"""Connects large results to the store of a service; imported when a store is opened."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from oracle.features.large_results.keeping import KeptResults
from oracle.features.large_results.reading import NAME
from oracle.server.api.parts import ServiceParts


@asynccontextmanager
async def opened(parts: ServiceParts) -> AsyncIterator[None]:
    """Keep the results of a service in its store."""
    if (results := parts.oracle.equipment.hooks.parts.get(NAME)) is not None:
        results.shelf = KeptResults(parts.store.database, writer=parts.store.writer)
    yield
