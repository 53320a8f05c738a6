"""What requests of OpenAI's clients have in common: a body, names without a meaning here, and headers."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import structlog
from starlette.requests import Request

from oracle.core.encoding import from_json
from oracle.server.api.errors import InvalidRequestError, bounded
from oracle.server.api.parts import ServiceParts

log = structlog.get_logger(__name__)

_MOST_NAMES: Final = 200
_LONGEST_NAME: Final = 64
_MOST_PAIRS: Final = 16
_UNNAMED: Final = frozenset({"", "new", "null", "none", "undefined"})
"""What products send in place of a name that there is not yet."""


class IgnoredNames:
    """The names of parameters without a meaning here, each logged once in a process."""

    def __init__(self) -> None:
        self._named: set[str] = set()

    def note(self, names: Iterable[str]) -> None:
        """Some were sent."""
        for name in {name[:_LONGEST_NAME] for name in names} - self._named:
            if len(self._named) < _MOST_NAMES:  # who sends new names on and on does not fill the log
                self._named.add(name)
                log.info("openai.parameter_ignored", name=name)


IGNORED: Final = IgnoredNames()


async def json_object(request: Request) -> Mapping[str, Any]:
    """The body of a request.

    Raises:
        InvalidRequestError: it is no JSON object.
    """
    try:
        body = from_json(await request.body())
    except ValueError as error:
        raise InvalidRequestError(f"the body is no JSON: {bounded(error)}", loc=("body",)) from None
    if not isinstance(body, dict):
        raise InvalidRequestError("the body is to be a JSON object", loc=("body",))
    return body


def wrong(problem: str, *place: str | int) -> InvalidRequestError:
    """The refusal of a part of a body."""
    return InvalidRequestError(problem, loc=("body", *place))


def typed(body: Mapping[str, Any], name: str, kind: type[Any]) -> Any:  # noqa: ANN401
    """A value of this type; an empty one where none is given.

    Raises:
        InvalidRequestError: it is of another type.
    """
    given = body.get(name)
    if given is not None and not isinstance(given, kind):
        shapes = {bool: "true or false", str: "a text", dict: "an object", list: "a list"}
        raise wrong(f"this is to be {shapes[kind]}", name)
    return kind() if given is None else given


def metadata_of(body: Mapping[str, Any]) -> dict[str, str]:
    """The pairs of texts that are to be kept with what is asked; their lengths are checked where it is begun.

    Raises:
        InvalidRequestError: they are no texts, or too many.
    """
    given: dict[str, Any] = typed(body, "metadata", dict)
    if len(given) > _MOST_PAIRS or not all(isinstance(value, str) for value in given.values()):
        raise wrong(f"metadata is an object of at most {_MOST_PAIRS} texts", "metadata")
    return given


def is_repeat(request: Request) -> bool:
    """Whether the client's library sends the request again."""
    count = request.headers.get("x-stainless-retry-count", "")
    return count.isascii() and count.isdigit() and count.strip("0") != ""


def conversation_of(request: Request, parts: ServiceParts, metadata: Mapping[str, str]) -> str | None:
    """The client's own name of the conversation; `None` where it has none."""
    named = [request.headers.get(name, "") for name in parts.settings.conversation_headers]
    named += [metadata.get("conversation_id", ""), metadata.get("chat_id", "")]
    return next((name for name in map(str.strip, named) if _is_name(name)), None)


def _is_name(text: str) -> bool:
    return text.casefold() not in _UNNAMED and "{{" not in text  # a placeholder that nobody has filled in
