"""Calls that are imported when the first of them is made."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from fastapi import FastAPI
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from oracle.core.loading import imported


class FurtherCalls(BaseRoute):
    """Stands for the calls of modules until one of them is made, so that a service that is only asked imports none.

    The first request that is for them and that no other call takes imports all of them, in a thread, as streams go on
    meanwhile. It must come after the routes of calls that its paths have as well.

    Args:
        app: gets the calls.
        routers: where they are (`module:name`).
        has: whether a request to this path may be for them.
        **settings: of `FastAPI.include_router`.
    """

    def __init__(
        self,
        app: FastAPI,
        routers: Sequence[str],
        *,
        has: Callable[[str], bool],
        **settings: Any,  # noqa: ANN401
    ) -> None:
        self._app = app
        self._routers = routers
        self._has = has
        self._settings = settings
        self._importing: asyncio.Task[None] | None = None

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Take what may be such a call."""
        may_be = scope["type"] == "http" and self._has(scope["path"])
        return (Match.FULL if may_be else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Import the calls, and have the request answered."""
        if self._importing is None:
            self._importing = asyncio.create_task(asyncio.to_thread(self._import), name="import-calls")
        await asyncio.shield(self._importing)
        self.add()
        await self._app.router(scope, receive, send)

    def add(self) -> None:
        """Put the calls in the place of this route; once."""
        if self in self._app.router.routes:
            self._app.router.routes.remove(self)
            for router in self._routers:
                self._app.include_router(imported(router), **self._settings)

    def _import(self) -> None:
        for router in self._routers:
            imported(router)
