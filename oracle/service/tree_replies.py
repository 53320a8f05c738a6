"""The bodies of responses of `/api/trees`, for `/openapi.json`."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from oracle.chunks import TerminationReason
from oracle.service.replies import InvalidRequest


class EditBody(BaseModel):
    """A replacement of the text between two places; line and column count from 1."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class FixBody(BaseModel):
    """A change that removes a mistake."""

    title: str
    edits: list[EditBody]


class TreeMistake(BaseModel):
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
    path: str | None = Field(description="The node that it concerns.")
    fixes: list[FixBody]


class TreeHead(BaseModel):
    """A tree in a list."""

    name: str
    description: str
    internal: bool = Field(description="It is a part of other trees; a question cannot name it.")
    origin: Literal["operator", "shipped"] = Field(description="Whose file serves the name.")
    version: str | None = Field(description="Of the present file: SHA-256 of its bytes; null if it cannot be read.")
    run_version: str | None = Field(
        description="What new runs use, subtrees included: `tree.version` of a run; null if no version was ever valid."
    )
    is_current: bool = Field(description="New runs use the present file; otherwise it has mistakes.")
    includes: list[str] = Field(description="The trees that it includes, directly or not.")
    used_by: list[str] = Field(description="The trees that include it, directly or not.")
    mistake_count: int
    warning_count: int
    file: str | None = Field(description="For operators: the path of the present file; null for others.")


class TreeList(BaseModel):
    """The trees, by name."""

    trees: list[TreeHead]
    problem: str | None = Field(description="For operators: why the folders cannot be read at present.")


class TreeNode(BaseModel):
    """A node of a tree; its index in the list is the one that ticks of its runs have."""

    path: str
    kind: str
    name: str | None
    file: str = Field(description="The name of the file that it stands in.")
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


class TreeMistakes(BaseModel):
    """Why a tree is not saved: all mistakes that it would bring, in its file and in those that include it."""

    detail: list[TreeMistake]


class TreeRefusal(RootModel[TreeMistakes | InvalidRequest]):
    """Mistakes in the tree, or in the request itself."""


class TreeConflict(BaseModel):
    """Why a tree is not saved: the edit was not made from the present version, or the folder cannot be written."""

    detail: str
    version: str | None = Field(default=None, description="The present version; null if there is no file.")
    user_id: str | None = Field(default=None, description="Who saved it; null if its file was changed by other means.")
    at: str | None = Field(default=None, description="When; ISO 8601, UTC.")
    note: str | None = Field(default=None, description="Why.")
    difference: str | None = Field(
        default=None, description="What has changed since the version that the edit was made from, a line per change."
    )


class TreeCheck(BaseModel):
    """The result of a check."""

    ok: bool = Field(description="There are no mistakes; there may be warnings.")
    mistakes: list[TreeMistake]
    warnings: list[TreeMistake]


class TreeCompletion(BaseModel):
    """Something that can be typed at a position."""

    label: str = Field(description="What a list shows.")
    kind: str = Field(description="What it is: a node kind, a setting, a key, a value, …")
    detail: str
    doc: str = Field(description="Markdown.")
    line: int = Field(description="With the next three: the text that it replaces.")
    column: int
    end_line: int
    end_column: int
    insert: str = Field(description="What takes its place.")
    snippet: str | None = Field(description="The same with places to fill in, as `${1:name}`.")


class TreeCompletions(BaseModel):
    """What can be typed at a position, the likeliest first."""

    items: list[TreeCompletion]


class ReplayDifference(BaseModel):
    """Where a recorded query would first have gone another way."""

    model_config = ConfigDict(populate_by_name=True)

    tick: int
    path: str = Field(description="The first node that does something else; empty if only its effects differ.")
    file: str | None
    line: int | None
    in_: Literal["old", "new"] = Field(alias="in", description="The tree that the node is of.")
    old: str | None = Field(description="What the present tree does; null for other users' queries.")
    new: str | None = Field(description="What the tree would do; null for other users' queries.")


class ReplayedRun(BaseModel):
    """A recorded query on the present tree and on the text."""

    tree: str = Field(description="The tree that it named.")
    run_id: str
    verdict: Literal["same", "another_way", "differs", "unknown"]
    difference: ReplayDifference | None
    old_end: TerminationReason | None = Field(description="Why it ends; null if that is not known.")
    new_end: TerminationReason | None
    unknown: str | None = Field(description="Why an end is not known.")


class TreeComparison(BaseModel):
    """Which recorded queries would have gone another way; those of each tree newest first."""

    runs: list[ReplayedRun]


class ScenarioDifference(BaseModel):
    """What happened in place of what is stated."""

    model_config = ConfigDict(extra="allow")

    line: int
    expected: Any
    got: Any
    hint: str | None = None


class ScenarioResult(BaseModel):
    """A scenario that was played."""

    model_config = ConfigDict(extra="allow")

    name: str
    passed: bool
    problem: str | None = Field(default=None, description="Why it could not be played.")
    differences: list[ScenarioDifference] | None = None


class ScenarioFile(BaseModel):
    """A file of scenarios."""

    file: str
    passed: bool
    mistakes: str | None
    scenarios: list[ScenarioResult]


class TreeTest(BaseModel):
    """The scenarios, with the text in place."""

    passed: bool
    files: list[ScenarioFile]


class VerifiedProperty(BaseModel):
    """The verdict on one property, or on one rule of the tree."""

    name: str
    text: str
    verdict: Literal["proven", "refuted", "not_decided"]
    problem: str = Field(description="What is wrong, or why it is not decided; empty if it is proven.")
    is_rule: bool
    story: list[str] | None = Field(description="The shortest counterexample, by lines.")


class VerifiedWithin(BaseModel):
    """The bounds of an exploration."""

    turns: int
    stopped_at: str | None = Field(description="What has stopped it; null if it is complete.")


class TreeVerification(BaseModel):
    """All behaviours of a tree with a text in place, as far as they were explored."""

    tree: str
    verdict: Literal["proven", "refuted", "not_decided"] = Field(description="The worst of all.")
    properties: list[VerifiedProperty]
    bounds: VerifiedWithin
    states: int
    transitions: int
    ends: int
    seconds: float
    megabytes: float


class TreeEditBody(BaseModel):
    """A version of a tree's file."""

    version: str
    how: Literal["saved", "restored", "file", "shipped"] = Field(
        description="Saved or taken back by a user; a change of the file by other means; or a part of a release."
    )
    user_id: str | None
    note: str | None
    at: str = Field(description="ISO 8601, UTC.")
    size: int = Field(description="Bytes.")
    is_present: bool = Field(description="It is the text of the present file.")


class TreeEditList(BaseModel):
    """Versions of a tree, newest first."""

    name: str
    versions: list[TreeEditBody]


class TreeTextBody(BaseModel):
    """The text of a version."""

    name: str
    version: str
    source: str
