"""Trees as operators change them while the service runs: watched, checked, saved, and taken back.

`watching` notices changed files, `editor` is what the calls of the service use, `saving` puts a file in place, and
`comparing` says what differs between two texts of a tree, `trials` what a text would change, and `counting` what the
nodes of a tree have answered in recorded runs. `results` keeps what trials have last said.
"""

from oracle.authoring.counting import AnswerCounts, NodeAnswers, TreeAnswers
from oracle.authoring.editor import CheckedText, Save, TreeEditor
from oracle.authoring.errors import NoSuchTreeError, TreeConflictError, TreeFolderError, TreeRefusedError, TrialError
from oracle.authoring.results import Tested, TrialResults, Verified, is_served
from oracle.authoring.trials import Trials
from oracle.authoring.watching import watch

__all__ = [
    "AnswerCounts",
    "CheckedText",
    "NoSuchTreeError",
    "NodeAnswers",
    "Save",
    "Tested",
    "TreeAnswers",
    "TreeConflictError",
    "TreeEditor",
    "TreeFolderError",
    "TreeRefusedError",
    "TrialError",
    "TrialResults",
    "Trials",
    "Verified",
    "is_served",
    "watch",
]
