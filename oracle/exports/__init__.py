"""Recorded runs as files: an export of a run, and the runs that others have exported.

    text = render_run(history, "html")
    ImportedRuns(folder).keep(Path("run.json").read_bytes())

`formats` writes a history as JSON, as a picture of its tree, or as a page that shows it in a browser (`page`);
`redaction` leaves its texts out; `imported` keeps the exports of others.
"""

from oracle.exports.formats import EXPORT_FORMATS, ExportFormat, UnknownTickError, render_run
from oracle.exports.imported import ImportedRuns, ImportFolderError, Kept, read_export
from oracle.exports.page import PageNotBuiltError
from oracle.exports.redaction import without_texts
from oracle.histories.view import OMITTED

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
