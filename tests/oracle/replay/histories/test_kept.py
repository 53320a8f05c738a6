"""What explains a run that has ended is made once and kept beside its log; it goes with the texts of the run."""

from functools import partial

import pytest
from sqlalchemy import select, update

from oracle.agent.nodes import REGISTRY
from oracle.replay.histories.codec import history_to_json, keep_history, kept_history
from oracle.replay.histories.model import History
from oracle.replay.histories.reading import read_history
from oracle.runs.record.figures import LogFigures
from oracle.runs.storage.archive import Archive, open_archive
from oracle.runs.storage.feedback import rate
from oracle.runs.storage.histories import history
from oracle.runs.storage.records import Feedback, RunRecord
from oracle.runs.storage.store import Store
from tests.oracle.replay.histories.test_deleted import SECRET, asked, database, store
from tests.oracle.replay.test_replays import SCRIPTS, recorded

__all__ = ["database", "store"]


async def looked_at(archive: Archive, run: RunRecord) -> History:
    made = await read_history(archive, run, registry=REGISTRY)
    await keep_history(archive, run, made)
    return made


async def rows(store: Store) -> list[str]:
    read = select(history.c.data)
    return await store.database.read(lambda connection: [data.decode() for data in connection.scalars(read)])


@pytest.mark.parametrize("name", SCRIPTS)
async def test_a_history_is_the_same_when_it_is_looked_at_again(store: Store, database: str, name: str) -> None:
    run = await recorded(store, name)
    async with open_archive(database) as archive:
        assert await kept_history(archive, run) is None
        made = await looked_at(archive, run)
        kept = await kept_history(archive, run)
    assert kept is not None
    assert history_to_json(kept) == history_to_json(made)


async def test_what_is_kept_has_no_prompt_and_its_row_is_that_of_today(store: Store, database: str) -> None:
    run = await asked(store, "tools")
    async with open_archive(database) as archive:
        made = await looked_at(archive, run)
        await store.write(partial(rate, run_id=run.id, user_id=run.user_id, feedback=Feedback("down", "No.")))
        kept = await kept_history(archive, await archive.find(run.id))
    assert kept is not None
    assert kept.run.feedback == Feedback("down", "No.")
    prompts = [turn.request.prompt for turn in made.turns if turn.request is not None]
    assert prompts == [turn.request.prompt for turn in kept.turns if turn.request is not None]
    assert prompts[0]
    assert prompts[0][:40] not in "".join(await rows(store))


@pytest.mark.parametrize("by", ["its user", "its age", "its texts alone"])
async def test_a_history_goes_with_the_texts_of_its_run_and_is_not_kept_again(
    store: Store, database: str, by: str
) -> None:
    run = await asked(store, "tools")
    async with open_archive(database) as archive:
        made = await looked_at(archive, run)
        assert SECRET in "".join(await rows(store))
        if by == "its user":
            await store.conversations.forget_run(run.user_id, run.id)
        elif by == "its age":
            await store.retention.prune(older_than_s=-1.0, most_bytes=None)
        else:
            await store.retention.drop_texts(older_than_s=-1.0, new_reducer=LogFigures)
        await keep_history(archive, run, made)  # by somebody who has read the row before
        assert await rows(store) == []
        assert await kept_history(archive, await archive.find(run.id)) is None


async def test_a_history_of_another_version_is_made_anew(store: Store, database: str) -> None:
    run = await asked(store, "tools")
    async with open_archive(database) as archive:
        await looked_at(archive, run)
        await store.write(lambda connection: connection.execute(update(history).values(made_by="0.0.0")).close())
        assert await kept_history(archive, run) is None
        await looked_at(archive, run)
        assert await kept_history(archive, run) is not None
    assert len(await rows(store)) == 1


async def test_what_could_not_be_explained_in_full_is_not_kept(store: Store, database: str) -> None:
    run = await asked(store, "tools")
    async with open_archive(database) as archive:
        made = await read_history(archive, run, registry=REGISTRY)
        made.problem = "tick 2 cannot be repeated"
        await keep_history(archive, run, made)
        assert await kept_history(archive, run) is None
