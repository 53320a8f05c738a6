"""Facts about the installation for the prompt, which the model would otherwise ask for, guess or list.

They change at most once a day or with the installation's settings, so a provider's cache of the prompt stays valid.
Folder names are untrusted: a cloned project can name a folder like an instruction. They are shortened, and characters
that could end their line or look like markup are escaped.
"""

import re
from collections.abc import Sequence
from datetime import date
from typing import Final

from bt_runtime.text.data import dataclass

from .errors import PromptError

ENVIRONMENT_PLACEHOLDER: Final = "{{environment}}"
"""Where the facts go in `environment`."""

MAX_FOLDERS: Final = 20
MAX_NAME_CHARS: Final = 40
_UNSAFE: Final = re.compile(r"[^\w .+@,()-]")


@dataclass(frozen=True, slots=True)
class Environment:
    """What the model may know about its installation.

    Args:
        today: the date, in UTC.
        project: the project's name, untrusted; empty if there is none or it is unknown.
        folders: its top-level folders; untrusted. At most `MAX_FOLDERS` are named.
        sources: the kinds of sources that exist (`code`, `vault`, `thread`, `web`), also if not offered for this query.
        calls_per_turn: the maximum number of tool calls run in one turn.

    Raises:
        PromptError: `calls_per_turn` is less than 1.
    """

    today: date
    project: str = ""
    folders: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    calls_per_turn: int = 1

    def __post_init__(self) -> None:
        if self.calls_per_turn < 1:
            raise PromptError(f"calls_per_turn must be at least 1, not {self.calls_per_turn!r}")


def render_environment(text: str, environment: Environment) -> str:
    """The body of the segment with the facts in it, one per line."""
    project = [
        f"- Project: {_quoted(environment.project)}",
        f"- Its top-level folders: {_folders(environment.folders)}",
    ]
    lines = [
        f"- Date: {environment.today.isoformat()} (UTC)",
        *(project if environment.project else []),
        f"- Sources: {', '.join(environment.sources) or 'none'}",
        f"- Tool calls that are run in one turn: at most {environment.calls_per_turn}",
    ]
    return text.replace(ENVIRONMENT_PLACEHOLDER, "\n".join(lines))


def _folders(names: Sequence[str]) -> str:
    named = ", ".join(_quoted(name) for name in names[:MAX_FOLDERS])
    more = len(names) - MAX_FOLDERS
    return (f"{named} and {more:,} more" if more > 0 else named) or "none"


def _quoted(name: str) -> str:
    """A name between backticks, escaped so that it cannot end them."""
    short = name if len(name) <= MAX_NAME_CHARS else f"{name[: MAX_NAME_CHARS - 3]}..."
    return f"`{_UNSAFE.sub(_escaped, short)}`"


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{{{ord(match[0]):x}}}"
