"""Serves the local user on the standard streams, for `oracle mcp`."""

import asyncio
import signal
import sys
from contextlib import AsyncExitStack, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import SecretStr

from oracle.cli.errors import CommandError
from oracle.cli.setup import settings_for
from oracle.core.loading import imported
from oracle.features.mcp_server.routes import MISSING
from oracle.server.settings.fields import Settings
from oracle.server.wiring.service import open_service


def serve(*, project: Path | None, vault: Path | None) -> int:
    """Serve until standard input ends, and return the exit code.

    Without a database of its own each process has an own one, so that any number of clients can start it beside a
    service.

    Raises:
        CommandError: the library is not installed.
    """
    if find_spec("mcp") is None:
        raise CommandError(MISSING)
    settings = settings_for(project_dir=project, vault_dir=vault)
    with TemporaryDirectory(prefix="oracle-mcp-") as folder:
        is_alone = settings.database_url is None
        if is_alone:
            own = SecretStr(f"sqlite:///{folder}/oracle.db")
            settings = settings.model_copy(update={"database_url": own})
        try:
            asyncio.run(_serve(settings, is_alone=is_alone))
        except asyncio.CancelledError:
            return 128 + signal.SIGTERM
    return 0


async def _serve(settings: Settings, *, is_alone: bool) -> None:
    task = asyncio.current_task()
    assert task is not None  # noqa: S101  this is one
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    async with AsyncExitStack() as stack:
        with redirect_stdout(sys.stderr):  # output of packages during their import must not enter the protocol
            serve_stdio = imported("oracle.features.mcp_server.serving:serve_stdio")
            parts = await stack.enter_async_context(open_service(settings))
        await serve_stdio(parts, is_alone=is_alone)
