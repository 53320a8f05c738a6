"""Recorded runs as files: an export of a run, and the runs that others have exported.

    text = render_run(history, "html")
    ImportedRuns(folder).keep(Path("run.json").read_bytes())

`formats` writes a history as JSON, as a picture of its tree, or as a page that shows it in a browser (`page`);
`redaction` leaves its texts out; `imported` keeps the exports of others.
"""

from oracle.replay.exports.formats import EXPORT_FORMATS, ExportFormat, UnknownTickError, render_run
from oracle.replay.exports.imported import ImportedRuns, ImportFolderError, Kept, read_export
from oracle.replay.exports.page import PageNotBuiltError
from oracle.replay.exports.redaction import without_texts
from oracle.replay.histories.view import OMITTED

__all__ = [
    "EXPORT_FORMATS",
    "OMITTED",
    "ExportFormat",
    "ImportFolderError",
    "ImportedRuns",
    "Kept",
    "PageNotBuiltError",
    "UnknownTickError",
    "read_export",
    "render_run",
    "without_texts",
]
