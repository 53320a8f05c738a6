"""What users think of answers: the latest is kept, its text as long as those of its run; on both databases."""

from functools import partial

import pytest

from oracle.features.shadow.pairs import PairFilter, ShadowPair
from oracle.features.shadow.report import pairs_of
from oracle.runs.storage.feedback import rate
from oracle.runs.storage.records import Feedback, NewRun, RunRecord
from oracle.runs.storage.run_pages import RunFilter
from oracle.runs.storage.store import Store
from tests.oracle.runs.storage.runs_made import begun, ended
from tests.oracle.runs.storage.test_conversations import rows_with

DOWN = Feedback("down", 'Secret: the "file" is gone.\n')


async def kept(store: Store, run_id: str, feedback: Feedback | None, *, user_id: str = "ann") -> bool:
    return await store.write(partial(rate, run_id=run_id, user_id=user_id, feedback=feedback))


async def feedback_of(store: Store, run_id: str) -> Feedback | None:
    found = await store.runs.find(run_id)
    assert found is not None
    return found.feedback


async def test_the_latest_counts_and_none_withdraws_it(store: Store) -> None:
    run = await ended(store)
    assert run.feedback is None
    for given in (DOWN, Feedback("up"), DOWN, None):
        assert await kept(store, run.id, given)
        assert await feedback_of(store, run.id) == given


async def test_a_run_under_way_keeps_its_feedback_when_it_ends(store: Store) -> None:
    record, log = await begun(store)
    assert await kept(store, record.id, DOWN)
    log.chunk(b'"text"')
    await store.write(lambda _: None)
    assert await feedback_of(store, record.id) == DOWN


async def test_runs_of_others_shadows_and_unknown_ones_are_not_rated(store: Store) -> None:
    run = await ended(store)
    shadow = await store.runs.begin(
        NewRun("shadow-1", "ann", "shadow-1", "loop", {"question": "Q?"}, {}, 60.0, shadow_of=run.id)
    )
    assert not await kept(store, run.id, DOWN, user_id="bob")
    assert not await kept(store, shadow.id, DOWN)
    assert not await kept(store, "run-99", DOWN)
    assert [await feedback_of(store, each.id) for each in (run, shadow)] == [None, None]


async def texts_go(store: Store, run: RunRecord, how: str) -> None:
    match how:
        case "conversation":
            await store.conversations.forget("ann", run.context_id)
        case "run":
            await store.conversations.forget_run("ann", run.id)
        case "texts":
            await store.retention.drop_texts(older_than_s=-1.0, new_reducer=lambda: lambda _: None)
        case "age":
            await store.retention.prune(older_than_s=-1.0, most_bytes=None)


@pytest.mark.parametrize(
    ("how", "left"),
    [("conversation", None), ("run", None), ("texts", Feedback("down")), ("age", Feedback("down"))],
)
async def test_its_text_goes_with_the_texts_and_none_is_taken_after_them(
    store: Store, how: str, left: Feedback | None
) -> None:
    run, liked, plain = [await ended(store) for _ in range(3)]
    await kept(store, run.id, DOWN)
    await kept(store, liked.id, Feedback("up", 'Secret: the {"rating":"down"'))
    for each in (run, liked, plain):
        await texts_go(store, each, how)
    assert await feedback_of(store, run.id) == left
    assert await feedback_of(store, liked.id) == (left and Feedback("up"))
    assert await feedback_of(store, plain.id) is None
    assert (await store.runs.count(RunFilter(rating="down"))).total == (0 if left is None else 1)
    assert await rows_with(store, "Secret: the") == []
    assert not await kept(store, run.id, DOWN)


async def test_a_rating_that_age_has_left_goes_when_its_user_deletes_the_run(store: Store) -> None:
    run = await ended(store)
    await kept(store, run.id, DOWN)
    for how in ("texts", "age", "texts"):
        await texts_go(store, run, how)
        assert await feedback_of(store, run.id) == Feedback("down")
    await texts_go(store, run, "conversation")
    assert await feedback_of(store, run.id) is None


async def test_a_shadow_pair_has_the_rating_of_its_primary(store: Store) -> None:
    rated, plain = await ended(store), await ended(store)
    await kept(store, rated.id, DOWN)
    for each in (rated, plain):
        pair = ShadowPair(each.id, "oracle", "oracle@aaaaaa", "loop", "running", each.created_at)
        await pairs_of(store).add(pair)
    found = await pairs_of(store).newest(PairFilter(), limit=5)
    assert {each.primary_id: each.rating for each in found} == {rated.id: "down", plain.id: None}


async def test_lists_have_those_that_were_rated_so(store: Store) -> None:
    liked, disliked, plain = [await ended(store) for _ in range(3)]
    await kept(store, liked.id, Feedback("up", '{"rating":"down"'))
    await kept(store, disliked.id, DOWN)

    async def listed(rating: str | None) -> list[str]:
        return [run.id for run in (await store.runs.page(RunFilter(rating=rating), limit=10)).runs]

    assert await listed("up") == [liked.id]
    assert await listed("down") == [disliked.id]
    assert await listed(None) == [plain.id, disliked.id, liked.id]
    assert (await store.runs.count(RunFilter(rating="down"))).total == 1
