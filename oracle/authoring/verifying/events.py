"""What can happen to a run while it waits: a request ends, the user cancels, or the time is over."""

from dataclasses import dataclass
from typing import Any, Literal

from oracle.authoring.verifying.replies import Reply, Result

Part = Literal["nothing", "some", "whole"]
"""How much of the work under way was there when it was interrupted: `whole` ended at the same moment."""


@dataclass(frozen=True, slots=True)
class Start:
    """The question."""

    question: str


@dataclass(frozen=True, slots=True)
class Replied:
    """An LLM turn ends."""

    request: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class ToolsEnded:
    """The tools of a turn end; `results` are those of the calls that are run, in order."""

    request: str
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class ActionEnded:
    """A tool that the tree calls itself ends; `text` replaces its result."""

    request: str
    result: Result
    text: str = ""


@dataclass(frozen=True, slots=True)
class SaveEnded:
    """The conversation is saved, or cannot be."""

    request: str
    fails: bool = False


@dataclass(frozen=True, slots=True)
class WorkEnded:
    """Work of a kind that is not known here ends, without a value or with an exception."""

    request: str
    fails: bool = False


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The user cancels."""

    part: Part = "nothing"
    calls: bool = False


@dataclass(frozen=True, slots=True)
class TimePassed:
    """Time passes until the next deadline."""

    part: Part = "nothing"


@dataclass(frozen=True, slots=True)
class Delivered:
    """A key gets a value from outside; each does so once in a run at most."""

    key: str
    value: bool | str | float


@dataclass(frozen=True, slots=True)
class Decided:
    """A person decides about something that the run has asked, or nobody does in time (`expire`).

    Args:
        at: which of what is open, in the order in which it was asked.
        value: the answer to a question.
        arguments: those that the person puts in the place of the call's.
    """

    at: int
    decision: Literal["approve", "refuse", "edit", "answer", "expire"]
    value: Any = None
    arguments: tuple[tuple[str, Any], ...] = ()

    @property
    def says(self) -> Any:  # noqa: ANN401  JSON data
        """What comes with the decision; `None`: nothing."""
        return dict(self.arguments) if self.decision == "edit" else self.value


Event = (
    Decided | Delivered | Start | Replied | ToolsEnded | ActionEnded | SaveEnded | WorkEnded | Cancelled | TimePassed
)
