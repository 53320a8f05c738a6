"""The handlers of the language server.

Each answers from the text as it is now. What a handler raises is answered as an error, and logged unless it is a
refusal; the server goes on.
"""

import logging
from collections.abc import Callable, Iterable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import structlog
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from bt_runtime.language.errors import TreeFileError
from bt_runtime.library.named import read_source
from bt_runtime.text.yaml_reader import read_yaml
from oracle.features.editing.completion import complete
from oracle.features.editing.describing import hover
from oracle.features.editing.desk import Desk
from oracle.features.editing.diagnosing import Diagnosis, diagnose, fixes_for
from oracle.features.editing.occurrences import Occurrence
from oracle.features.editing.symbols import RenameError, definition, references, rename, renamed_at
from oracle.features.language_server import wire
from oracle.features.language_server.open_files import Checks, OpenFile, OpenFiles
from oracle.features.language_server.wire import Coordinates

T = TypeVar("T")

_TRIGGERS = (":", " ", "{", "[", "$", '"', "'")
_REQUEST_FAILED = -32803
"""The protocol's code for a request that was right and cannot be fulfilled."""
_WATCHED = "**/*.{yaml,yml}"
_PROTOCOL_LOG = "pygls.protocol.json_rpc"

log = structlog.get_logger(__name__)


def serve(desk: Desk, *, input_: BinaryIO, output: BinaryIO) -> int:
    """Speak with one editor until it shuts the server down or goes away; returns the exit code."""
    logging.getLogger(_PROTOCOL_LOG).addFilter(_is_fault)
    server = TreesServer(desk)
    server.start_io(input_, output)
    return 0 if server.is_shut_down else 1


class _RefusedError(JsonRpcException):
    """A request that was right and cannot be fulfilled: the editor shows why, and there is nothing to log."""

    def __init__(self, why: Exception) -> None:
        super().__init__(str(why), _REQUEST_FAILED)


def _is_fault(record: logging.LogRecord) -> bool:
    """Whether a record of the protocol is about something other than a refused request."""
    return not (record.exc_info and isinstance(record.exc_info[1], _RefusedError))


class TreesServer(LanguageServer):
    """The server of one editor."""

    def __init__(self, desk: Desk) -> None:
        # Whole texts: incremental changes would depend on how both sides count lines.
        super().__init__("oracle-trees", version("oracle-bt"), types.TextDocumentSyncKind.Full)
        self.files = OpenFiles(desk)
        self.checks = Checks(self.files, self._publish)
        self.is_shut_down = False
        for name, handler, options in _HANDLERS:
            self.feature(name, options)(partial(handler, self))

    @property
    def encoding(self) -> types.PositionEncodingKind:
        """The code units of positions."""
        return types.PositionEncodingKind(self.workspace.position_encoding or types.PositionEncodingKind.Utf16)

    @property
    def knows_snippets(self) -> bool:
        """Whether the editor understands tab stops in proposals."""
        document = self.client_capabilities.text_document
        item = document.completion.completion_item if document and document.completion else None
        return bool(item and item.snippet_support)

    def coordinates(self, text: str, file: str) -> Coordinates:
        """Positions in a text."""
        return Coordinates(text, file=file, encoding=self.encoding)

    def tree_at(self, uri: str) -> OpenFile | None:
        """The open text, unless it is no tree, or too large to be edited here."""
        each = self.files.get(uri)
        return each if each is not None and each.is_bounded and self.files.is_tree(each) else None

    def ask(self, about: Callable[..., T], params: Any, **more: Any) -> T | None:  # noqa: ANN401  messages differ
        """What a function of `oracle.features.editing` says about the position of a message; `None` without a tree.

        Raises:
            JsonRpcException: the request was right, and is refused.
        """
        each = self.tree_at(params.text_document.uri)
        if each is None:
            return None
        place = self.coordinates(each.text, str(each.file)).place(params.position)
        try:
            return about(self.files.desk(), each.text, each.file, line=place.line, column=place.column, **more)
        except RenameError as error:
            raise _RefusedError(error) from None

    def texts(self, files: Iterable[str]) -> dict[str, Coordinates]:
        """Positions in the files of some places."""
        return {file: self._text_of(file) for file in dict.fromkeys(files)}

    def _text_of(self, file: str) -> Coordinates:
        for each in self.files.trees():
            if str(each.file) == file:
                return self.coordinates(each.text, file)
        desk = self.files.desk()
        path = Path(file)
        try:
            unsaved = desk.library.texts.get(path.resolve())
            text = unsaved if unsaved is not None else read_source(path, name=path.stem).text
        except TreeFileError:
            text = ""
        return self.coordinates(read_yaml(text, file=file).text, file)

    def _publish(self, each: OpenFile, found: Diagnosis | None) -> None:
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(each.uri, self.shown(found) if found else [], each.version)
        )

    def shown(self, found: Diagnosis) -> list[types.Diagnostic]:
        """The mistakes of a text."""
        texts = {file: self.coordinates(text, file) for file, text in found.sources.items()}
        return [wire.diagnostic(finding, texts) for finding in found.findings]

    def locations(self, found: Iterable[Occurrence]) -> list[types.Location]:
        """The places of names."""
        occurrences = tuple(found)
        texts = self.texts(each.start.file for each in occurrences)
        return [wire.location(each.start, each.end, texts[each.start.file]) for each in occurrences]


def _initialize(server: TreesServer, params: types.InitializeParams) -> None:
    folders = [folder.uri for folder in params.workspace_folders or ()]
    root = [params.root_uri] if params.root_uri and not folders else []
    server.files.open_folders([*folders, *root])


def _initialized(server: TreesServer, _params: types.InitializedParams) -> None:
    workspace = server.client_capabilities.workspace
    watching = workspace.did_change_watched_files if workspace else None
    if watching is None or not watching.dynamic_registration:
        return
    options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(_WATCHED)])
    registration = types.Registration("watch-trees", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
    server.client_register_capability(types.RegistrationParams([registration]))


def _folders_changed(server: TreesServer, _params: types.DidChangeWorkspaceFoldersParams) -> None:
    server.files.open_folders(server.workspace.folders)
    server.checks.changed()


def _opened(server: TreesServer, params: types.DidOpenTextDocumentParams) -> None:
    document = params.text_document
    server.files.put(document.uri, document.text, document.version)
    server.checks.changed(document.uri)


def _changed(server: TreesServer, params: types.DidChangeTextDocumentParams) -> None:
    document = params.text_document
    for change in params.content_changes:  # each is a whole text
        server.files.put(document.uri, change.text, document.version)
    server.checks.changed(document.uri)


def _closed(server: TreesServer, params: types.DidCloseTextDocumentParams) -> None:
    server.files.close(params.text_document.uri)
    server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))
    server.checks.changed()


def _files_changed(server: TreesServer, _params: Any) -> None:  # noqa: ANN401  saved, or changed on disk
    server.checks.changed()


def _shut_down(server: TreesServer, _params: Any) -> None:  # noqa: ANN401  it has no message
    server.is_shut_down = True


def _complete(server: TreesServer, params: types.CompletionParams) -> types.CompletionList | None:
    found = server.ask(complete, params)
    if found is None:
        return None
    texts, snippets = server.texts(each.start.file for each in found), server.knows_snippets
    items = [wire.completion_item(each, texts[each.start.file], snippets=snippets) for each in found]
    return types.CompletionList(is_incomplete=False, items=items)


def _hover(server: TreesServer, params: types.HoverParams) -> types.Hover | None:
    said = server.ask(hover, params)
    return types.Hover(wire.markdown(said)) if said is not None else None


def _define(server: TreesServer, params: types.DefinitionParams) -> list[types.Location]:
    return server.locations(server.ask(definition, params) or ())


def _refer(server: TreesServer, params: types.ReferenceParams) -> list[types.Location]:
    return server.locations(server.ask(references, params, declarations=params.context.include_declaration) or ())


def _prepare_rename(server: TreesServer, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
    found = server.ask(renamed_at, params)
    if found is None:
        return None
    where = server.locations([found])[0].range
    return types.PrepareRenamePlaceholder(where, found.name)


def _rename(server: TreesServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
    edits = server.ask(rename, params, name=params.new_name)
    return None if edits is None else wire.text_edits(edits, server.texts(edit.start.file for edit in edits))


def _act(server: TreesServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    each = server.tree_at(params.text_document.uri)
    if each is None:
        return []
    coordinates = server.coordinates(each.text, str(each.file))
    first, last = coordinates.place(params.range.start).line, coordinates.place(params.range.end).line
    desk = server.files.desk()
    found, registry = diagnose(desk, each.text, each.file), desk.registry
    texts = {file: server.coordinates(text, file) for file, text in found.sources.items()}
    actions: list[types.CodeAction] = []
    for finding in found.findings:
        if first <= finding.mistake.place.line <= last:
            shown = wire.diagnostic(finding, texts)
            offered = fixes_for([finding.mistake], each.text, registry) if finding.related is None else []
            for number, (_, fix) in enumerate(offered):
                is_best = number == 0 and fix in finding.mistake.fixes
                actions.append(wire.quick_fix(fix, shown, texts, is_preferred=is_best))
    return actions


_HANDLERS: tuple[tuple[str, Any, Any], ...] = (
    (types.INITIALIZE, _initialize, None),
    (types.INITIALIZED, _initialized, None),
    (types.SHUTDOWN, _shut_down, None),
    (types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, _folders_changed, None),
    (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, _files_changed, None),
    (types.TEXT_DOCUMENT_DID_OPEN, _opened, None),
    (types.TEXT_DOCUMENT_DID_CHANGE, _changed, None),
    (types.TEXT_DOCUMENT_DID_CLOSE, _closed, None),
    (types.TEXT_DOCUMENT_DID_SAVE, _files_changed, None),
    (types.TEXT_DOCUMENT_COMPLETION, _complete, types.CompletionOptions(trigger_characters=_TRIGGERS)),
    (types.TEXT_DOCUMENT_HOVER, _hover, None),
    (types.TEXT_DOCUMENT_DEFINITION, _define, None),
    (types.TEXT_DOCUMENT_REFERENCES, _refer, None),
    (types.TEXT_DOCUMENT_PREPARE_RENAME, _prepare_rename, None),
    (types.TEXT_DOCUMENT_RENAME, _rename, types.RenameOptions(prepare_provider=True)),
    (
        types.TEXT_DOCUMENT_CODE_ACTION,
        _act,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    ),
)
