"""The bodies of responses of `/api/trees`, for `/openapi.json`."""

from typing import Annotated, Literal

from pydantic import Field, RootModel

from bt_runtime.text.data import dataclass
from oracle.authoring.figures import NodeAnswers
from oracle.replay.comparing import Comparison
from oracle.server.api.replies import InvalidRequest, ReplyBody


class EditBody(ReplyBody):
    """A replacement of the text between two places; line and column count from 1."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class FixBody(ReplyBody):
    """A change that removes a mistake."""

    title: str
    edits: list[EditBody]


class TreeMistake(ReplyBody):
    """A mistake in a tree file, with its place."""

    file: str = Field(description="The name of the file: `follow_signal.yaml`.")
    line: int = Field(description="From 1.")
    column: int = Field(description="From 1, in characters.")
    end_line: int | None
    end_column: int | None
    severity: Literal["error", "warning"]
    code: str
    message: str
    hint: str | None
    path: str | None = Field(description="The path of the affected node.")
    fixes: list[FixBody] = Field(
        description="Ways to fix it, best first. A check also offers declarations and silences."
    )


class TreeRuns(ReplyBody):
    """How many queries have ended how."""

    completed: int
    stopped: int = Field(description="Ended by a limit, by the user, or because they were stuck.")
    failed: int = Field(description="Ended by an error, or by consecutive tool errors.")
    running: int


class VerifiedTree(ReplyBody):
    """The strongest verdict on all behaviours of a tree: a counterexample, or that of the most turns."""

    verdict: Literal["proven", "refuted", "not_decided"]
    at: str = Field(description="ISO 8601, UTC.")
    turns: int = Field(description="The most turns of the explored runs.")
    states: int = Field(description="How many states were explored.")
    stopped_at: str | None = Field(description="What stopped the exploration; null if it is complete.")


class TestedTree(ReplyBody):
    """How the scenarios that reach a tree went, the last time that they were played."""

    passed: int
    scenarios: int = Field(description="How many scenarios reach it.")
    at: str = Field(description="ISO 8601, UTC.")


class TreeHead(ReplyBody):
    """A tree in a list."""

    name: str
    description: str
    internal: bool = Field(description="Whether it is only a part of other trees, which a question cannot name.")
    origin: Literal["operator", "shipped"] = Field(description="The origin of the file that serves the name.")
    version: str | None = Field(description="Of the present file: SHA-256 of its bytes; null if it cannot be read.")
    run_version: str | None = Field(
        description="What new runs use, subtrees included: `tree.version` of a run; null if no version was ever valid."
    )
    is_current: bool = Field(description="Whether new runs use the present file; if not, it has mistakes.")
    includes: list[str] = Field(description="The trees that it includes, directly or not.")
    used_by: list[str] = Field(description="The trees that include it, directly or not.")
    mistake_count: int
    warning_count: int
    file: str | None = Field(description="For operators: the path of the present file; null for others.")
    node_count: int | None = Field(description="Of what new runs use, subtrees included; null if nothing is in use.")
    version_count: int | None = Field(description="For operators; null for others.")
    changed_at: str | None = Field(description="When the newest version was saved; ISO 8601, UTC. For operators.")
    shadows: bool = Field(description="Whether it overrides a tree of the same name in another folder.")
    verified: VerifiedTree | None = Field(
        description="The result for what new runs use; null if it was not verified since."
    )
    tested: TestedTree | None = Field(
        description="The result with the present trees; null if they were not tested since."
    )
    runs_of_day: TreeRuns = Field(
        description="The runs of the last 24 hours that named it; for operators those of all users."
    )


class TreeList(ReplyBody):
    """The trees, by name."""

    trees: list[TreeHead]
    problem: str | None = Field(description="For operators: why the folders cannot be read.")
    folder: str | None = Field(
        description="For operators: the folder where trees are saved; it takes precedence over the shipped trees."
    )


class TreeNode(ReplyBody):
    """A node of a tree; its index in the list is the one that ticks of its runs have."""

    path: str
    kind: str
    name: str | None
    file: str = Field(description="The name of the file that contains it.")
    line: int
    column: int


class TreeBody(TreeHead):
    """A tree: its present file, and what new runs use."""

    source: str | None = Field(description="The text of the present file; null if it cannot be read.")
    outline: str | None = Field(description="What new runs use, drawn as text.")
    picture: str | None = Field(description="What new runs use, drawn as SVG.")
    nodes: list[TreeNode] = Field(description="Of what new runs use, in the order of the file.")
    mistakes: list[TreeMistake] = Field(description="Of the present file and those that it includes.")
    warnings: list[TreeMistake]


class TreeMistakes(ReplyBody):
    """Why a tree is not saved: all mistakes that it would bring, in its file and in those that include it."""

    detail: list[TreeMistake]


class TreeRefusal(RootModel[TreeMistakes | InvalidRequest]):
    """Mistakes in the tree, or in the request itself."""


class TreeConflict(ReplyBody):
    """Why a tree is not saved: the edit was not made from the present version, or the folder cannot be written."""

    detail: str
    version: str | None = Field(default=None, description="The present version; null if there is no file.")
    user_id: str | None = Field(default=None, description="Who saved it; null if its file was changed by other means.")
    at: str | None = Field(default=None, description="When; ISO 8601, UTC.")
    note: str | None = Field(default=None, description="Why.")
    difference: str | None = Field(
        default=None, description="The changes since the version that the edit was made from, one per line."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedRun(Comparison):
    """A recorded query on the present tree and on the text."""

    tree: Annotated[str, Field(description="The tree that it named.")]


class TreeComparison(ReplyBody):
    """Which recorded queries would have gone another way: the named one, then those of each tree, newest first."""

    runs: list[ReplayedRun]


class TreeAnswersBody(ReplyBody):
    """How often the nodes of a tree's file have answered, in recorded runs of what new runs use."""

    name: str
    run_version: str | None = Field(description="The line numbers are those of the file in this version.")
    is_current: bool = Field(description="Whether that is the present file.")
    runs: int = Field(
        description="How many runs were counted, newest first: of this tree and of those that include it."
    )
    is_complete: bool = Field(description="If false, there was no time for the older runs; ask again.")
    since: str | None = Field(description="When the oldest of them began; ISO 8601, UTC.")
    nodes: list[NodeAnswers] = Field(description="In the order of the file.")


class TreeEditBody(ReplyBody):
    """A version of a tree's file."""

    version: str
    how: Literal["saved", "restored", "file", "shipped"] = Field(
        description="Saved or restored by a user, changed by other means, or part of a release."
    )
    user_id: str | None
    note: str | None
    at: str = Field(description="ISO 8601, UTC.")
    size: int = Field(description="Bytes.")
    is_present: bool = Field(description="Whether it is the text of the present file.")


class TreeEditList(ReplyBody):
    """Versions of a tree, newest first."""

    name: str
    versions: list[TreeEditBody]


class TreeTextBody(ReplyBody):
    """The text of a version."""

    name: str
    version: str
    source: str
