"""The texts of large results in the database, beside the log; they are deleted with the texts of their run."""

from collections.abc import Collection, Mapping

import sqlalchemy as sa
from sqlalchemy import Connection, func, select

from oracle.features.large_results.reading import MOST_OF_RUN
from oracle.runs.storage.parts import Keeping, rows_of_runs
from oracle.runs.storage.schema import Json, metadata, run
from oracle.runs.storage.writer import Part

large_result = sa.Table(
    "large_result",
    metadata,
    sa.Column("run_id", sa.String(64), primary_key=True),
    sa.Column("id", sa.String(16), primary_key=True),  # made from the text
    sa.Column("text", Json, nullable=False),  # a string
    sa.Column("size", sa.Integer, nullable=False),  # characters
)
_own = large_result.c


class KeptResults(Part):
    """The large results of all runs."""

    async def keep(self, run_id: str, result_id: str, text: str) -> bool:
        """Keep a text of a run, if there is room and the run's texts are kept.

        Raises:
            StoreUnavailableError: the database cannot be written at present.
        """
        row = {"run_id": run_id, "id": result_id, "text": text, "size": len(text)}
        size = select(func.coalesce(func.sum(_own.size), 0)).where(_own.run_id == run_id, _own.id != result_id)
        has_texts = select(run.c.id).where(run.c.id == run_id, run.c.forgotten_at.is_(None))

        def work(connection: Connection) -> bool:
            used = connection.scalar(size) or 0
            if used + len(text) > MOST_OF_RUN or connection.scalar(has_texts) is None:
                return False
            connection.execute(self._database.dialect.insert(large_result), row)
            return True

        return await self._writer.write(work)

    async def find(self, run_id: str, result_id: str) -> str | None:
        """The text; `None`: the run has none of that id.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        query = select(_own.text).where(_own.run_id == run_id, _own.id == result_id)
        found: str | None = await self._database.read(lambda connection: connection.scalar(query))
        return found


def _sizes(connection: Connection, run_ids: Collection[str]) -> Mapping[str, int]:
    sizes = select(_own.run_id, func.sum(_own.size)).where(_own.run_id.in_(run_ids)).group_by(_own.run_id)
    return {run_id: int(size) for run_id, size in connection.execute(sizes)}


KEEPING = Keeping(tables=(large_result,), with_runs=rows_of_runs(large_result), sizes=_sizes)
