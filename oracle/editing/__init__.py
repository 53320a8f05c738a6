"""The editing of tree files: what an editor and the service's API say about a text while it is typed.

All functions are pure: they take a `Desk` (the trees around the file, kinds, keys and tools), a text and a position,
and change nothing. Lines and columns count from 1, a column counts characters.
"""

from oracle.editing.actions import fixes_for, silence, with_offers
from oracle.editing.completion import Completion, complete
from oracle.editing.desk import Desk
from oracle.editing.diagnosing import Diagnosis, FileMistake, diagnose
from oracle.editing.hovering import hover
from oracle.editing.lines import Lines
from oracle.editing.occurrences import Occurrence
from oracle.editing.renaming import RenameError, rename, renamed_at
from oracle.editing.symbols import definition, references

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
