"""Trees as operators change them while the service runs: watched, checked, saved, and taken back.

`watching` notices changed files, `editor` is what the calls of the service use, `saving` puts a file in place, and
`comparing` says what differs between two texts of a tree, `trying` what a text would change.
"""

from oracle.authoring.editor import Checked, Save, TreeEditor
from oracle.authoring.errors import NoSuchTreeError, TreeConflictError, TreeFolderError, TreeRefusedError, TrialError
from oracle.authoring.trying import Trials
from oracle.authoring.watching import watch

__all__ = [
    "Checked",
    "NoSuchTreeError",
    "Save",
    "TreeConflictError",
    "TreeEditor",
    "TreeFolderError",
    "TreeRefusedError",
    "TrialError",
    "Trials",
    "watch",
]
