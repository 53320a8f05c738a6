"""What can go wrong with what other packages add."""

from collections.abc import Iterable

from oracle.errors import OperatorError


class PluginError(OperatorError):
    """Plugins that cannot be used; the message says which, why, and what would be right.

    Args:
        problems: a sentence for each problem; there is at least one.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems: tuple[str, ...] = tuple(problems)
        super().__init__("\n".join(self.problems))
