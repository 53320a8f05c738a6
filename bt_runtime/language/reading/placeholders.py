"""`${name}` in the settings of a subtree: the argument of that name.

Rules:

- A setting that consists of `${name}` becomes the argument itself, whatever its type; inside a longer text the argument
  becomes text. An expression names the parameter instead.
- `$${` stands for `${`. Keys of mappings, names and kinds of nodes are never replaced.
- The size of the result is bounded, because arguments can be passed on and multiplied from tree to tree.
"""

import json
import re
from collections.abc import Mapping

from bt_runtime.language.kind import Value
from bt_runtime.text import Mistake, Place, brief, did_you_mean, listing
from bt_runtime.text.yaml_reader import YamlNode

_WHOLE = re.compile(r"\$\{([^{}]*)\}")
_ANY = re.compile(r"\$\$\{|\$\{([^{}]*)\}")
_MOST_CHARACTERS = 100_000


def placeholder_in(text: str) -> re.Match[str] | None:
    """The first `${name}` of a text as written in the file, with the name as its group; `None` if there is none."""
    return next((match for match in _ANY.finditer(text) if match[1] is not None), None)


class Filler:
    """Fills the placeholders in the settings of one node."""

    def __init__(
        self, arguments: Mapping[str, Value], *, samples: frozenset[str], mistakes: list[Mistake], path: str
    ) -> None:
        self.sampled: set[Place] = set()
        """The places with a sample value; what is wrong there may be right with a real argument."""
        self.used: set[str] = set()
        """The names of the arguments that were inserted."""
        self._arguments = arguments
        self._samples = samples
        self._mistakes = mistakes
        self._path = path
        self._left = _MOST_CHARACTERS

    def fill(self, node: YamlNode) -> Value:
        """The plain value of a setting, with arguments inserted."""
        if isinstance(node.data, dict):
            return {key: self.fill(entry.node) for key, entry in node.data.items()}
        if isinstance(node.data, tuple):
            return [self.fill(item) for item in node.data]
        if isinstance(node.data, str) and "${" in node.data:
            whole = _WHOLE.fullmatch(node.data)
            if whole:
                value = self._argument(whole[1], node.place)
                self._spend(value if isinstance(value, str) else json.dumps(value), node.place)
                return value if self._left > 0 else None
            return _ANY.sub(lambda match: self._part(match, node.place), node.data)
        return node.data

    def _part(self, match: re.Match[str], place: Place) -> str:
        if match[1] is None:
            return "${"
        value = self._argument(match[1], place)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        self._spend(text, place)
        return text if self._left > 0 else ""

    def _argument(self, name: str, place: Place) -> Value:
        if name not in self._arguments:
            known = f"parameters: {listing(self._arguments)}" if self._arguments else "the file declares no parameters"
            hint = did_you_mean(name, self._arguments) or f"{known}; '$${{' stands for '${{'"
            self._mistakes.append(
                Mistake(place, f"there is no parameter {brief(name)}", hint, self._path, "unknown-parameter")
            )
            return ""
        self.used.add(name)
        if name in self._samples:
            self.sampled.add(place)
        return self._arguments[name]

    def _spend(self, text: str, place: Place) -> None:
        if self._left > 0:
            self._left -= len(text)
            if self._left <= 0:
                message = f"with its arguments inserted, this has more than {_MOST_CHARACTERS:,} characters"
                self._mistakes.append(Mistake(place, message, None, self._path))
