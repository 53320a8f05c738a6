"""Texts for users with blackboard values in them: `{turn}` stands for the value of that key."""

import re
from collections.abc import Callable, Mapping

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def keys_in(template: str) -> tuple[str, ...]:
    """The blackboard keys that a text shows, each once, in their order."""
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(template)))


def filled(template: str, values: Mapping[str, object], *, show: Callable[[object], str] = str) -> str:
    """The text with the values in place.

    Args:
        show: how a value is written in place of its name.
        template: the author's text; braces around anything but a name stay as they are.
        values: by key; every key of `keys_in` is there.
    """
    return _PLACEHOLDER.sub(lambda match: show(values[match[1]]), template)
