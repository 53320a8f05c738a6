"""How the rows of tables beside the log are erased and tidied.

A module holds the definitions of its tables and a `Keeping` of them, which is listed in `oracle.runs.storage.features`,
or by a feature. Erasure and retention reach tables only through this.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Literal

from sqlalchemy import Connection, Table, delete

from bt_runtime.text.data import dataclass

Loss = Literal["forgotten", "pruned", "reduced", "removed"]
"""What runs lose: their texts, because their user wants it, or because of their age; their texts alone, while the log
keeps its figures; all of them, as if nobody had asked them."""

WithRuns = Callable[[Connection, Collection[str], Loss], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """How the rows of some tables are erased and tidied. Each function runs in the transaction of the caller.

    Args:
        tables: the tables.
        with_runs: takes from them what runs lose.
        with_conversation: deletes what they have of a conversation that is deleted; gets its id.
        sizes: about how many bytes they have of runs, by their ids, where that is much.
        tidy: deletes what is not needed any more, whenever old texts are deleted; gets the time.
    """

    tables: tuple[Table, ...]
    with_runs: WithRuns
    with_conversation: Callable[[Connection, str], None] = lambda *_: None
    sizes: Callable[[Connection, Collection[str]], Mapping[str, int]] = lambda *_: {}
    tidy: Callable[[Connection, float], None] = lambda *_: None


def rows_of_runs(table: Table, *, but: Loss | None = None) -> WithRuns:
    """Deletes the rows of runs from a table with a column `run_id`, except for one kind of loss."""

    def delete_rows(connection: Connection, run_ids: Collection[str], loss: Loss) -> None:
        if loss != but:
            connection.execute(delete(table).where(table.c.run_id.in_(run_ids)))

    return delete_rows


def no_texts(_connection: Connection, _run_ids: Collection[str], _loss: Loss) -> None:
    """Leaves rows that have no text of a run."""
