"""What the kinds have in common that ask a person: their settings, and the one place where they wait."""

import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field, field_validator

from bt_runtime import Node, NodeSettings
from bt_runtime.language.kind import filled
from oracle.agent.nodes.board import ANSWERS
from oracle.agent.notices import quoted
from oracle.agent.people import People, Terms
from oracle.agent.run import AgentRun

_SECONDS: Final[Mapping[str, int]] = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_TIME: Final = re.compile(r"([1-9][0-9]{0,6})([smhd])")
_LONGEST_S: Final = 366 * 86_400
DEFAULT_TIME: Final = "7d"


class SomebodyElse(NodeSettings):
    """Anyone but the user whose query it is.

    Args:
        than: `asker`; written `not` in YAML.
    """

    than: Literal["asker"] = Field(alias="not")


class AskingSettings(NodeSettings):
    """Settings of what asks a person.

    Args:
        expires: how long an answer may take: `30m`, `12h`, `7d`; `null`: without end.
        answered_by: who may answer: the `user` whose query it is, an `operator`, or `{not: asker}`.
    """

    expires: str | None = DEFAULT_TIME
    answered_by: Literal["user", "operator"] | SomebodyElse = "user"

    @field_validator("expires")
    @classmethod
    def _time(cls, value: str | None) -> str | None:
        if value is not None and not 0 < _seconds(value) <= _LONGEST_S:
            raise ValueError("a time is a whole number with s, m, h or d, such as 30m or 7d; a year at most")
        return value

    def terms(self, on_expiry: Literal["refuse", "default", "fail"] = "refuse") -> Terms:
        """Who may answer, and until when."""
        who = "not_asker" if isinstance(self.answered_by, SomebodyElse) else self.answered_by
        return Terms(who, None if self.expires is None else _seconds(self.expires), on_expiry)


def _seconds(text: str) -> int:
    match = _TIME.fullmatch(text)
    return 0 if match is None else int(match[1]) * _SECONDS[match[2]]


def people_of(node: Node[Any]) -> People:
    """What the query asks people, with the answers that have come."""
    agent: AgentRun = node.run.host.agent
    people = agent.part(People.of)
    people.hear(node.run.read(ANSWERS))
    return people


def wait_for_answer(node: Node[Any]) -> None:
    """Have the tree ticked again when an answer comes; called at every tick in which a node waits for one."""
    node.run.wake_on_change(node.index, node.path, (ANSWERS,))


def shown_text(node: Node[Any], template: str) -> str:
    """The author's text with values of the blackboard in it."""
    return filled(template, node.board, show=lambda value: quoted(str(value)))
