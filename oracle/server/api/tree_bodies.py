"""Parts of trees as clients get them: their mistakes, and the figures that a list shows."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from bt_runtime import Mistake, TreeState
from bt_runtime.text import iso
from bt_runtime.text.data import dataclass
from oracle.authoring.figures import Tested, Verified
from oracle.runs.storage.run_pages import UNDER_WAY
from oracle.runs.storage.trees import EditFigures
from oracle.server.api.auth import Caller
from oracle.server.api.errors import bounded
from oracle.server.api.parts import ServiceParts

_LONGEST_MESSAGE: Final = 1_000
DAY_S: Final = 24 * 60 * 60.0
_ENDS: Final[Mapping[str, str]] = {
    "completed": "completed",
    "error": "failed",
    "error_limit": "failed",
    **dict.fromkeys(UNDER_WAY, "running"),
}


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of all trees, by their names.

    Args:
        edits: the versions; empty for who may not see them.
        runs: the queries of the last day that named the tree: those of the caller, or all for an operator.
        verified: what verifications of the present versions have said.
        tested: how the scenarios went with the present versions.
    """

    edits: Mapping[str, EditFigures]
    runs: Mapping[str, Mapping[str, int]]
    verified: Mapping[str, Verified]
    tested: Mapping[str, Tested]

    def of(self, state: TreeState) -> dict[str, Any]:
        """The wire form of the figures of one tree."""
        edits = self.edits.get(state.name)
        verified, tested = self.verified.get(state.name), self.tested.get(state.name)
        runs = {"completed": 0, "stopped": 0, "failed": 0, "running": 0}
        for reason, count in self.runs.get(state.name, {}).items():
            runs[_ENDS.get(reason, "stopped")] += count
        return {
            "node_count": None if state.tree is None else sum(1 for _ in state.tree.nodes()),
            "version_count": None if edits is None else edits.versions,
            "changed_at": None if edits is None else iso(edits.at),
            "runs_of_day": runs,
            "verified": verified and {**asdict(verified), "at": iso(verified.at)},
            "tested": tested and {"passed": tested.passed, "scenarios": tested.scenarios, "at": iso(tested.at)},
        }


async def figures_for(parts: ServiceParts, caller: Caller) -> Figures:
    """The figures that the caller may see."""
    states = parts.trees.trees.states()
    edits = await parts.trees.figures() if caller.is_operator else {}
    since = parts.store.database.now() - DAY_S
    runs = await parts.store.runs.count_by_tree(since=since, user_id=caller.reads_runs_of)
    results = parts.results()
    return Figures(edits, runs, await results.verified(states), await results.tested(states))


def mistake_bodies(mistakes: Iterable[Mistake]) -> list[dict[str, Any]]:
    """The mistakes; of a file the name alone."""
    return [
        {
            "file": Path(mistake.place.file).name,
            **mistake.to_json(),
            "message": bounded(mistake.message, most=_LONGEST_MESSAGE),
        }
        for mistake in mistakes
    ]
