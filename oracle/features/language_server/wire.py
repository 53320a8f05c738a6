"""What `oracle.features.editing` answers, as the protocol's messages, and its places as the protocol's positions.

A place has lines and columns from 1 and counts characters; a line ends where YAML says so. A position counts from 0, in
the code units that editor and server have agreed on (UTF-16 unless they can do better), and only a line
feed, a carriage return, or both end a line.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from lsprotocol import types
from lsprotocol.types import Position, PositionEncodingKind, Range
from pygls.uris import from_fs_path

from bt_runtime.text import Edit, Fix, Mistake, Place
from oracle.features.editing.completion import Completion
from oracle.features.editing.diagnosing import FileMistake
from oracle.features.editing.lines import Lines

_BREAK = re.compile(r"\r\n|\n|\r")

_UNITS: Final[Mapping[PositionEncodingKind, Callable[[str], int]]] = {
    PositionEncodingKind.Utf8: lambda character: len(character.encode("utf-8", "surrogatepass")),
    PositionEncodingKind.Utf16: lambda character: 2 if ord(character) > 0xFFFF else 1,
    PositionEncodingKind.Utf32: lambda _character: 1,
}


class Coordinates:
    """Positions in one text.

    Args:
        text: the text.
        file: its name in places.
        encoding: the code units of the positions.
    """

    def __init__(self, text: str, *, file: str, encoding: PositionEncodingKind = PositionEncodingKind.Utf16) -> None:
        self.lines = Lines(text, file=file)
        self._text = text
        self._units = _UNITS[encoding]
        self._starts = [0, *(match.end() for match in _BREAK.finditer(text))]
        self._ends = [*(match.start() for match in _BREAK.finditer(text)), len(text)]

    def place(self, position: Position) -> Place:
        """The place of a position; the nearest one for a position outside of the text."""
        if position.line >= len(self._starts):
            return self.lines.place_at(len(self._text))
        index, units = self._starts[position.line], 0
        while index < self._ends[position.line] and units < position.character:
            units += self._units(self._text[index])
            index += 1
        return self.lines.place_at(index)

    def position(self, place: Place) -> Position:
        """The position of a place."""
        index = self.lines.index(place)
        line = bisect_right(self._starts, index) - 1
        before = self._text[self._starts[line] : index]
        return Position(line, sum(map(self._units, before)))

    def range(self, start: Place, end: Place | None = None) -> Range:
        """The range between two places."""
        return Range(self.position(start), self.position(end or start))


SOURCE: Final = "oracle trees"
_KINDS: Final[Mapping[str, types.CompletionItemKind]] = {
    "field": types.CompletionItemKind.Property,
    "node": types.CompletionItemKind.Class,
    "setting": types.CompletionItemKind.Property,
    "slot": types.CompletionItemKind.Field,
    "value": types.CompletionItemKind.EnumMember,
    "type": types.CompletionItemKind.TypeParameter,
    "key": types.CompletionItemKind.Variable,
    "parameter": types.CompletionItemKind.Constant,
    "function": types.CompletionItemKind.Function,
    "word": types.CompletionItemKind.Keyword,
    "tree": types.CompletionItemKind.Module,
    "tool": types.CompletionItemKind.Method,
    "argument": types.CompletionItemKind.Field,
    "code": types.CompletionItemKind.Event,
}


def uri_of(file: str | Path) -> str:
    """The address of a file."""
    return from_fs_path(str(Path(file).absolute())) or ""


def diagnostic(finding: FileMistake, texts: Mapping[str, Coordinates]) -> types.Diagnostic:
    """A mistake; `texts` are the files that it is in."""
    mistake = finding.mistake
    message = mistake.message if mistake.hint is None else f"{mistake.message}\n{mistake.hint}"
    return types.Diagnostic(
        range=texts[mistake.place.file].range(mistake.place, mistake.end),
        message=message,
        severity=types.DiagnosticSeverity.Error if mistake.is_error else types.DiagnosticSeverity.Warning,
        code=mistake.code,
        source=SOURCE,
        related_information=_related(finding.related, texts) if finding.related is not None else None,
    )


def _related(mistake: Mistake, texts: Mapping[str, Coordinates]) -> list[types.DiagnosticRelatedInformation]:
    coordinates = texts.get(mistake.place.file)
    where = coordinates.range(mistake.place, mistake.end) if coordinates is not None else _START
    location = types.Location(uri_of(mistake.place.file), where)
    return [types.DiagnosticRelatedInformation(location, mistake.message)]


_START: Final = types.Range(types.Position(0, 0), types.Position(0, 0))


def completion_item(completion: Completion, coordinates: Coordinates, *, snippets: bool) -> types.CompletionItem:
    """A proposal; `snippets`: the editor knows tab stops."""
    is_snippet = snippets and completion.snippet is not None
    text = completion.snippet if is_snippet and completion.snippet is not None else completion.insert
    return types.CompletionItem(
        label=completion.label,
        kind=_KINDS[completion.kind],
        detail=completion.detail or None,
        documentation=markdown(completion.doc) if completion.doc else None,
        sort_text=f"{completion.order}{completion.label}",
        filter_text=completion.label,
        text_edit=types.TextEdit(coordinates.range(completion.start, completion.end), text),
        insert_text_format=types.InsertTextFormat.Snippet if is_snippet else types.InsertTextFormat.PlainText,
        insert_text_mode=types.InsertTextMode.AdjustIndentation,
    )


def markdown(text: str) -> types.MarkupContent:
    """A description."""
    return types.MarkupContent(types.MarkupKind.Markdown, text)


def text_edits(edits: Iterable[Edit], texts: Mapping[str, Coordinates]) -> types.WorkspaceEdit:
    """Changes of files."""
    changes: dict[str, list[types.TextEdit]] = {}
    for edit in edits:
        where = texts[edit.start.file].range(edit.start, edit.end)
        changes.setdefault(uri_of(edit.start.file), []).append(types.TextEdit(where, edit.text))
    return types.WorkspaceEdit(changes=changes)


def quick_fix(
    fix: Fix, shown: types.Diagnostic, texts: Mapping[str, Coordinates], *, is_preferred: bool
) -> types.CodeAction:
    """A fix of a mistake."""
    return types.CodeAction(
        title=fix.title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[shown],
        is_preferred=is_preferred or None,
        edit=text_edits(fix.edits, texts),
    )


def location(start: Place, end: Place, coordinates: Coordinates) -> types.Location:
    """A place of a file."""
    return types.Location(uri_of(start.file), coordinates.range(start, end))
