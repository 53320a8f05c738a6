"""The errors of this package, by who must act.

```
BTError
├── TreeError                tree author
│   ├── TreeFileError            mistakes in one or more tree files
│   ├── TreeNotFoundError        no file declares a tree of that name
│   └── ExpressionError          an expression cannot be read, or not be evaluated
├── KindError                node author: kinds or keys that contradict each other
└── RunError                 tree author and node author: a run that cannot continue
    ├── HotLoopError             the tree repeats itself without waiting for anything
    ├── StalledError             nodes are RUNNING and nothing will ever wake them
    └── BlackboardError          an unknown or read-only key, or a value of the wrong type
```
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bt_runtime.text import MOST_MISTAKES, Mistake, did_you_mean, format_mistakes, in_order


class BTError(Exception):
    """Base of all errors that this package raises."""


class TreeError(BTError):
    """The tree author must act."""


class TreeFileError(TreeError):
    """Tree files with mistakes; the first hundred are reported.

    Args:
        mistakes: at least one, in any order.
        sources: the text of each file by its name, so that lines can be shown.
    """

    def __init__(self, mistakes: Iterable[Mistake], sources: Mapping[str, str] | None = None) -> None:
        ordered = in_order(mistakes)
        self.mistakes: tuple[Mistake, ...] = ordered[:MOST_MISTAKES]
        self.omitted: int = len(ordered) - len(self.mistakes)
        self.sources: Mapping[str, str] = dict(sources or {})
        super().__init__(self.mistakes)

    def __str__(self) -> str:
        return format_mistakes(self.mistakes, self.sources, omitted=self.omitted)


class TreeNotFoundError(TreeError):
    """No file declares a tree of that name."""

    def __init__(self, name: str, known: Iterable[str] = (), folders: Sequence[Path] = ()) -> None:
        self.name = name
        self.known: tuple[str, ...] = tuple(sorted(known))
        self.folders: tuple[str, ...] = tuple(str(folder) for folder in folders)
        super().__init__(name, self.known, self.folders)

    @property
    def hint(self) -> str:
        """The nearest name, or the folders that were searched."""
        looked = f"looked in {', '.join(self.folders)}" if self.folders else "there is no folder to look in"
        return did_you_mean(self.name, self.known) or looked

    def __str__(self) -> str:
        return f"there is no tree {self.name!r}; {self.hint}"


class ExpressionError(TreeError):
    """An expression cannot be read, or not be evaluated with the present values.

    Args:
        message: what is wrong, with the operands' values where they matter.
        column: where in the expression's text, from 1.
        hint: what would be right, if that is known.
    """

    def __init__(self, message: str, column: int = 1, hint: str | None = None) -> None:
        self.message = message
        self.column = column
        self.hint = hint
        super().__init__(message, column, hint)

    def __str__(self) -> str:
        text = f"{self.message} (column {self.column})"
        return f"{text}; {self.hint}" if self.hint else text


class KindError(BTError):
    """Kinds or keys that contradict each other: a duplicate name, a slot named like a setting, a wrong default."""


class RunError(BTError):
    """A run that cannot continue."""


class HotLoopError(RunError):
    """The tree repeats itself without waiting for anything.

    Args:
        path: the node that kept changing.
        unit: what is counted, in the plural.
    """

    def __init__(self, path: str, count: int, unit: str = "ticks") -> None:
        self.path = path
        self.count = count
        self.unit = unit
        super().__init__(path, count, unit)

    def __str__(self) -> str:
        return f"{self.path!r} went on for {self.count} {self.unit} in a row without waiting for anything"


class StalledError(RunError):
    """Nodes are RUNNING and nothing will ever wake them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths: tuple[str, ...] = tuple(paths)
        super().__init__(self.paths)

    def __str__(self) -> str:
        return f"nothing is pending that could wake {', '.join(map(repr, self.paths)) or 'the tree'}"


class BlackboardError(RunError):
    """An unknown or read-only blackboard key, or a value of the wrong type.

    Args:
        message: what is wrong, with the value as given.
        key: the key.
        hint: what would be right, if that is known.
    """

    def __init__(self, message: str, key: str = "", hint: str | None = None) -> None:
        self.message = message
        self.key = key
        self.hint = hint
        super().__init__(message, key, hint)

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message
