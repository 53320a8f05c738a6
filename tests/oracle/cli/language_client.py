"""An editor: pygls' client over the standard streams of `oracle trees lsp`, or of its server in this process."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.io_ import run_async
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path

from oracle.cli.setup import settings_for
from oracle.features.editing.desk import editing_desk
from oracle.features.language_server.server import serve

PATIENCE_S = 10.0


class Editor:
    """One editor with its server."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.requests: list[str] = []
        self._shown: dict[str, tuple[int | None, list[types.Diagnostic]]] = {}
        self._news = asyncio.Condition()
        self._versions: dict[str, int] = {}

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def publish(params: types.PublishDiagnosticsParams) -> None:
            async with self._news:
                self._shown[params.uri] = (params.version, list(params.diagnostics))
                self._news.notify_all()

        @client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            self.requests += [each.method for each in params.registrations]

    async def start(self, folder: Path, **capabilities: Any) -> types.InitializeResult:
        uri = from_fs_path(str(folder))
        parameters = types.InitializeParams(
            capabilities=types.ClientCapabilities(**capabilities),
            workspace_folders=[types.WorkspaceFolder(uri or "", "trees")],
        )
        result = await self.client.initialize_async(parameters)
        self.client.initialized(types.InitializedParams())
        return result

    def open(self, file: Path, text: str) -> str:
        uri = from_fs_path(str(file)) or ""
        self._versions[uri] = 1
        item = types.TextDocumentItem(uri, "yaml", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, text: str) -> None:
        self._versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        changes = [types.TextDocumentContentChangeWholeDocument(text)]
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, changes))

    async def diagnostics(
        self, uri: str, *, until: str | None = None, none: bool = False, warnings: bool = False
    ) -> list[types.Diagnostic]:
        """The errors shown for the present version: as soon as they are, or as one has a message, or there are none."""

        def found() -> bool:
            version, _ = self._shown.get(uri, (0, []))
            shown = self._of(uri, warnings=warnings)
            if version is not None and version != self._versions[uri]:  # some servers number nothing
                return False
            return not shown if none else until is None or any(until in each.message for each in shown)

        async with asyncio.timeout(PATIENCE_S), self._news:
            await self._news.wait_for(found)
        return self._of(uri, warnings=warnings)

    def _of(self, uri: str, *, warnings: bool) -> list[types.Diagnostic]:
        _, shown = self._shown.get(uri, (0, []))
        return [each for each in shown if warnings or each.severity == types.DiagnosticSeverity.Error]

    @property
    def server(self) -> asyncio.subprocess.Process:
        assert self.client._server is not None
        return self.client._server

    async def shut_down(self) -> int:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        return await asyncio.wait_for(self.server.wait(), PATIENCE_S)


def identified(uri: str) -> types.TextDocumentIdentifier:
    return types.TextDocumentIdentifier(uri)


@asynccontextmanager
async def editor(cwd: Path, env: Mapping[str, str]) -> AsyncIterator[Editor]:
    """An editor whose server has been started and is ended with it."""
    client = LanguageClient("test-editor", "1")
    here = Editor(client)
    await client.start_io(sys.executable, "-m", "oracle", "trees", "lsp", cwd=cwd, env=dict(env))
    try:
        yield here
    finally:
        if here.server.returncode is None:
            here.server.kill()
        await here.server.wait()
        await client.stop()


@asynccontextmanager
async def editor_inside() -> AsyncIterator[Editor]:
    """An editor whose server runs in a thread of this process, and ends with 0 when the editor shuts it down."""
    client = LanguageClient("test-editor", "1")
    here = Editor(client)
    ours, theirs = socket.socketpair()
    with theirs, theirs.makefile("rb") as input_, theirs.makefile("wb") as output:
        serving = asyncio.create_task(
            asyncio.to_thread(serve, editing_desk(settings_for()), input_=input_, output=output)
        )
        reader, writer = await asyncio.open_connection(sock=ours)
        client.protocol.set_writer(writer)
        reading = run_async(stop_event=client._stop_event, reader=reader, protocol=client.protocol)
        client._async_tasks.append(asyncio.create_task(reading))
        try:
            yield here
            await client.shutdown_async(None)
            client.exit(None)
            assert await asyncio.wait_for(serving, PATIENCE_S) == 0
        finally:
            writer.close()
            await asyncio.wait([serving])
            await client.stop()
