"""The system prompts of runs: one row for each text, however many runs have used it.

Rules:

- A run names its prompts in `prompt_use`; a prompt that no run names is deleted.
- A use locks its prompt against deletion, and a deletion locks the prompts before it looks for uses, so that no worker
  deletes a text that another one has just begun to use.
"""

from collections.abc import Collection
from functools import partial

from sqlalchemy import Column, Connection, String, Table, bindparam, delete, literal, select

from oracle.runs.storage.database import Database
from oracle.runs.storage.dialect import Dialect
from oracle.runs.storage.parts import Keeping, Loss
from oracle.runs.storage.prepared import Prepared, PreparedInsert
from oracle.runs.storage.schema import Json, metadata, run
from oracle.runs.storage.writer import Part, Writer

prompt = Table(
    "prompt",
    metadata,
    Column("sha", String(64), primary_key=True),  # of the text
    Column("text", Json, nullable=False),  # a string: a system prompt as the model got it
)

prompt_use = Table(
    "prompt_use",
    metadata,
    Column("run_id", String(64), primary_key=True),
    Column("sha", String(64), primary_key=True, index=True),  # names a row of prompt
)

_MOST_KNOWN = 10_000  # digests in memory
_FOUND = Prepared(
    select(prompt.c.sha).where(prompt.c.sha == bindparam("found")).with_for_update(read=True, key_share=True)
)
_USE = PreparedInsert(prompt_use)


class Prompts(Part):
    """The prompts of all runs."""

    def __init__(self, database: Database, *, writer: Writer) -> None:
        super().__init__(database, writer=writer)
        self._known: set[str] = set()

    def keep(self, run_id: str, sha: str, text: str) -> None:
        """Keep a prompt as one of this run; never waits. A failure is logged, and the run goes on without it."""
        is_known = sha in self._known
        if not is_known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known.add(sha)
        # Alone if it inserts the text: another worker may be inserting the same one.
        work = partial(_keep, run_id=run_id, sha=sha, text=text, dialect=self._database.dialect)
        self._writer.post(work, is_alone=not is_known)

    async def find(self, sha: str) -> str | None:
        """The text with that digest; `None` if no run needs it any more.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        return await self._database.read(partial(find_prompt, sha=sha))


def find_prompt(connection: Connection, sha: str) -> str | None:
    """The text with that digest, or `None`."""
    text: str | None = connection.scalar(select(prompt.c.text).where(prompt.c.sha == sha))
    return text


def _keep(connection: Connection, run_id: str, sha: str, text: str, *, dialect: Dialect) -> None:
    if not _use(connection, run_id, sha, dialect=dialect):
        connection.execute(dialect.insert(prompt), {"sha": sha, "text": text})
        _use(connection, run_id, sha, dialect=dialect)


def _use(connection: Connection, run_id: str, sha: str, *, dialect: Dialect) -> bool:
    """Note the use of a prompt that is there; returns whether it is."""
    if _FOUND.first(connection, {"found": sha}) is None:
        return False
    _USE.run(connection, dialect, {"run_id": run_id, "sha": sha})
    return True


def _release(connection: Connection, run_ids: Collection[str], _loss: Loss) -> None:
    """These runs need their prompts no more; those that no other run names are deleted."""
    of_runs = prompt_use.c.run_id.in_(run_ids)
    shas = sorted(set(connection.scalars(select(prompt_use.c.sha).where(of_runs))))
    if not shas:
        return
    connection.execute(delete(prompt_use).where(of_runs))
    wanted = prompt.c.sha.in_(shas)
    connection.execute(select(prompt.c.sha).where(wanted).order_by(prompt.c.sha).with_for_update()).all()
    is_used = select(literal(1)).where(prompt_use.c.sha == prompt.c.sha).exists()
    connection.execute(delete(prompt).where(wanted, ~is_used))


def _release_late(connection: Connection, _at: float) -> None:
    """Release prompts of runs whose texts are gone: a worker that was stopped meanwhile has kept them too late."""
    has_texts = select(run.c.id).where(
        run.c.id == prompt_use.c.run_id, run.c.forgotten_at.is_(None), run.c.texts_dropped_at.is_(None)
    )
    late = set(connection.scalars(select(prompt_use.c.run_id).where(~has_texts.exists())))
    if late:
        _release(connection, late, "pruned")


KEEPING = Keeping(tables=(prompt, prompt_use), with_runs=_release, tidy=_release_late)
