"""What trials say, as the service answers it."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema


class ScenarioDifference(BaseModel):
    """What happened in place of what is stated."""

    model_config = ConfigDict(extra="allow")

    line: int
    path: SkipJsonSchema[list[str | int]] = []
    expected: Any
    got: Any
    hint: str | None = None


class ScenarioResult(BaseModel):
    """A scenario that was played."""

    model_config = ConfigDict(extra="allow")

    name: str
    line: SkipJsonSchema[int | None] = None
    tree: str = Field(description="The tree that it plays.")
    visited_trees: list[str] | None = Field(default=None, description="That tree and its parts that were reached.")
    passed: bool
    problem: str | None = Field(default=None, description="Why it could not be played.")
    differences: list[ScenarioDifference] | None = None


class ScenarioFile(BaseModel):
    """A file of scenarios."""

    file: str
    passed: bool
    mistakes: str | None
    scenarios: list[ScenarioResult]


class VerifiedProperty(BaseModel):
    """The verdict on one property, or on one rule of the tree."""

    name: str
    text: str
    verdict: Literal["proven", "refuted", "not_decided"]
    problem: str = Field(description="What is wrong, or why it is not decided; empty if it is proven.")
    is_rule: bool
    story: list[str] | None = Field(description="The shortest counterexample, by lines.")
    other_stories: list[list[str]] = Field(description="Further ones, in which other nodes lead to it; two at most.")


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
