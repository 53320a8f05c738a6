"""Errors of this package, by who must act.

PromptError            the prompt author, the operator, or us: sizes, or values that `compose` cannot use
└── PromptFilesError   the prompt author or operator: files that cannot be used, all mistakes together
"""

from collections.abc import Iterable, Mapping, Sequence

from bt_runtime.text import Mistake, Place, did_you_mean, format_mistakes


class PromptError(Exception):
    """Required segments exceed the bound, or `compose` was given a value that it cannot use; the message says which."""


class PromptFilesError(PromptError):
    """Prompt files have mistakes.

    Args:
        mistakes: all of them, in the order of the files.
        sources: the text of each file by its name, so that lines can be shown.
    """

    def __init__(self, mistakes: Sequence[Mistake], sources: Mapping[str, str] | None = None) -> None:
        super().__init__(format_mistakes(mistakes, sources))
        self.mistakes = tuple(mistakes)


def whole_file(file: object, message: str, hint: str | None = None) -> Mistake:
    """A mistake that concerns a file or folder as a whole."""
    return Mistake(Place(str(file)), message, hint)


def suggest(given: str, known: Iterable[str]) -> str:
    """The hint after a wrong name: the nearest right one, or all of them."""
    names = list(known)
    return did_you_mean(given, names) or f"use one of: {', '.join(names)}"
