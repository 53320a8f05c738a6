"""The editing of tree files: what an editor and the service's API say about a text while it is typed.

All functions are pure: they take a `Desk` (the trees around the file, kinds, keys and tools), a text and a position,
and change nothing. Lines and columns count from 1, a column counts characters.
"""

from oracle.authoring.editing.actions import fixes_for, silence, with_offers
from oracle.authoring.editing.completion import Completion, complete
from oracle.authoring.editing.desk import Desk
from oracle.authoring.editing.diagnosing import Diagnosis, FileMistake, diagnose
from oracle.authoring.editing.hovering import hover
from oracle.authoring.editing.lines import Lines
from oracle.authoring.editing.occurrences import Occurrence
from oracle.authoring.editing.renaming import RenameError, rename, renamed_at
from oracle.authoring.editing.symbols import definition, references

__all__ = [
    "Completion",
    "Desk",
    "Diagnosis",
    "FileMistake",
    "Lines",
    "Occurrence",
    "RenameError",
    "complete",
    "definition",
    "diagnose",
    "fixes_for",
    "hover",
    "references",
    "rename",
    "renamed_at",
    "silence",
    "with_offers",
]
