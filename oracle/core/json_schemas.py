"""JSON data checked against JSON schemas: what people answer, and what trees say that they may."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from bt_runtime.text.phrases import clipped

DEEPEST: Final = 64
"""Levels of a value that is checked; the checker's own stack has no bound."""

_MOST_MISTAKES: Final = 20
_LONGEST: Final = 300  # characters of a problem


class Misfit(NamedTuple):
    """What a schema refuses of a value.

    Args:
        place: keys and indexes that lead to it.
        problem: one sentence without a full stop: what the schema wants there.
    """

    place: Sequence[str | int]
    problem: str


def misfits(schema: Mapping[str, Any], value: Any) -> list[Misfit]:  # noqa: ANN401  JSON data
    """What the schema refuses of the value; of a great number some. Nothing that a schema refers to is fetched.

    Raises:
        ValueError: the schema is wrong, or the value is nested too deeply to be checked.
    """
    if is_deeper(value, DEEPEST):
        raise ValueError(f"it is nested more than {DEEPEST} levels deep")
    import jsonschema_rs  # noqa: PLC0415  15 MB, for who answers a run

    try:
        validator = jsonschema_rs.validator_for(dict(schema), retriever=_fetch_nothing)
    except jsonschema_rs.ValidationError as error:
        raise ValueError(f"this is no JSON schema: {error.message}") from None
    found = islice(validator.iter_errors(value), _MOST_MISTAKES)
    return [Misfit(tuple(error.instance_path), clipped(error.message, _LONGEST)) for error in found]  # it has the value


def is_deeper(value: Any, levels: int) -> bool:  # noqa: ANN401  JSON data
    """Whether the value has more levels of arrays and objects."""
    if not isinstance(value, Mapping | list | tuple):
        return False
    inner = value.values() if isinstance(value, Mapping) else value
    return levels <= 0 or any(is_deeper(each, levels - 1) for each in inner)


def _fetch_nothing(address: str) -> Any:  # noqa: ANN401
    raise ValueError(f"a schema may refer to its own parts alone, not to {address}")
