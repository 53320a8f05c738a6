"""Conversations in the databases: every promise, forgetting, lists, and several workers at once."""

import asyncio

import pytest
from sqlalchemy import text, update

from oracle.agent.answering import Ask, Checked
from oracle.agent.conversations.protocol import UnknownConversationError
from oracle.decision import AgentConfig, decision_tree
from oracle.history import history_for_model
from oracle.runs.storage import schema
from oracle.runs.storage.conversation_pages import PAGE_CHARS
from oracle.runs.storage.errors import ConversationBusyError, RunLostError
from oracle.runs.storage.records import RunEnd
from oracle.runs.storage.store import Store, open_store
from tests.oracle.agent.conversations.contract import CLASSIFICATION, CONTRACT, STEP, Promise, exchange, texts_of
from tests.oracle.runs.storage.making import beats, new_run
from tests.oracle.runs.storage.runs_made import begun, ended


async def rows_with(store: Store, needle: str) -> list[str]:
    """The tables that hold a text anywhere."""

    def work(connection):
        return [
            table.name
            for table in schema.metadata.sorted_tables
            if needle in str([tuple(row) for row in connection.execute(table.select())])
        ]

    return await store.database.read(work)


@pytest.mark.parametrize("promise", CONTRACT, ids=lambda promise: promise.__name__)
async def test_conversations_in_a_database_keep_every_promise(store: Store, promise: Promise) -> None:
    await promise(store.conversations)


async def test_a_lone_surrogate_becomes_a_replacement_character(store: Store) -> None:
    made = await store.conversations.create("ann")
    await store.conversations.append("ann", made.context_id, exchange("a\ud800b", "\udfff"))
    assert await texts_of(store.conversations, "ann", made.context_id) == ["a\ufffdb", "\ufffd"]


async def test_what_was_kept_is_there_after_a_restart(store_url: str) -> None:
    async with open_store(store_url, worker="worker-1") as store:
        made = await store.conversations.create("ann")
        await store.conversations.append("ann", made.context_id, exchange(classification=CLASSIFICATION))
    async with open_store(store_url, worker="worker-2") as store:
        found = await store.conversations.load("ann", made.context_id)
    assert found is not None
    assert [message.content for message in found.messages] == ["Q?", "A."]
    assert found.classification == CLASSIFICATION


async def test_the_conversation_that_a_run_begins_is_at_hand_as_it_would_be_read(store: Store) -> None:
    record = await store.runs.begin(new_run(project_id="shop"))

    def checked(context_id: str | None) -> Checked:
        ask = Ask("Why?", "ann", context_id=context_id, project_id="shop")
        asked = Checked(ask, ask.question, AgentConfig(), decision_tree("default"))
        return asked.for_run(record.id, context_id=record.context_id, asked_at="2026-11-26T10:00:00Z")

    assert checked(None).begun == await store.conversations.load("ann", record.context_id)
    assert checked(record.context_id).begun is None


async def test_a_conversation_that_a_run_began_can_be_continued(store: Store) -> None:
    record = await ended(store)
    found = await store.conversations.load("ann", record.context_id)
    assert found is not None
    assert (found.messages, found.classification, found.had_tool_errors) == ((), None, False)
    await store.conversations.append("ann", record.context_id, exchange())
    assert await texts_of(store.conversations, "ann", record.context_id) == ["Q?", "A."]


async def test_a_classification_of_another_version_costs_nothing_but_itself(store: Store) -> None:
    made = await store.conversations.create("ann")
    await store.conversations.append("ann", made.context_id, exchange(had_tool_errors=True))
    state = {"classification": {"query_type": "psychic"}, "had_tool_errors": True}
    await store.write(lambda connection: connection.execute(update(schema.conversation).values(state=state)).close())
    found = await store.conversations.load("ann", made.context_id)
    assert found is not None
    assert (found.classification, found.had_tool_errors, len(found.messages)) == (None, True, 2)


async def test_appends_at_the_same_time_are_all_kept_with_numbers_without_gaps(store: Store) -> None:
    made = await store.conversations.create("ann")
    given = [exchange(f"Q{at % 10}?", f"A{at % 10}.", run_id=f"run-{at % 10}") for at in range(30)]
    await asyncio.gather(*(store.conversations.append("ann", made.context_id, each) for each in given))
    kept = await texts_of(store.conversations, "ann", made.context_id)
    assert kept == [word for at in range(10) for word in (f"Q{at}?", f"A{at}.")]
    numbers = await store.database.read(lambda connection: list(connection.scalars(text("SELECT n FROM message"))))
    assert sorted(numbers) == list(range(1, 21))


async def test_two_workers_keep_the_exchange_of_one_run_once(postgresql_url: str) -> None:
    async with open_store(postgresql_url, worker="one") as one, open_store(postgresql_url, worker="two") as two:
        made = await one.conversations.create("ann")
        appends = [
            worker.conversations.append("ann", made.context_id, exchange(run_id=f"run-{at}"))
            for at in range(20)
            for worker in (one, two)
        ]
        await asyncio.gather(*appends)
        assert len(await texts_of(two.conversations, "ann", made.context_id)) == 40


async def test_a_worker_that_has_lost_a_run_cannot_keep_its_answer(postgresql_url: str) -> None:
    async with open_store(postgresql_url, worker="one") as one, open_store(postgresql_url, worker="two") as two:
        record, _ = await begun(one)
        assert [each.id for each in await two.claims.take_over(await beats(two))] == [record.id]
        with pytest.raises(RunLostError):
            await one.conversations.append("ann", record.context_id, exchange("Q?", "Lost.", run_id=record.id))
        await two.conversations.append("ann", record.context_id, exchange("Q?", "Interrupted.", run_id=record.id))
        assert await texts_of(one.conversations, "ann", record.context_id) == ["Q?", "Interrupted."]


async def test_forgetting_leaves_no_text_of_the_conversation_and_its_runs(store: Store) -> None:
    record = await ended(store, chunks=5)
    later = await ended(store, context_id=record.context_id)
    await store.conversations.append("ann", record.context_id, exchange("Secret question?", "Secret answer."))
    assert await store.conversations.forget("ann", record.context_id) is True
    assert await store.conversations.load("ann", record.context_id) is None
    assert await rows_with(store, "ecret") == []
    assert await rows_with(store, "sss") == []
    assert await rows_with(store, record.context_id) == ["run"]
    for run_id in (record.id, later.id):
        assert await store.log.events(run_id) == []


async def test_the_row_of_a_forgotten_run_keeps_figures(store: Store) -> None:
    before = await ended(store)
    await store.conversations.forget("ann", before.context_id)
    after = await store.runs.find(before.id)
    assert after is not None
    assert (after.input, after.answer, after.error) == ({}, None, None)
    assert after.forgotten_at is not None
    kept = ("user_id", "tree", "limits", "termination_reason", "turns", "tokens_used", "created_at", "finished_at")
    assert [getattr(after, name) for name in kept] == [getattr(before, name) for name in kept]


async def test_forgetting_spares_everything_else(store: Store) -> None:
    record, other, bobs = await ended(store), await ended(store), await ended(store, user_id="bob")
    await store.conversations.append("ann", other.context_id, exchange())
    await store.conversations.forget("ann", record.context_id)
    assert await texts_of(store.conversations, "ann", other.context_id) == ["Q?", "A."]
    for kept in (other, bobs):
        assert await store.runs.find(kept.id) == kept
        assert len(await store.log.events(kept.id)) == 5


async def test_what_is_not_there_or_is_anothers_cannot_be_forgotten(store: Store) -> None:
    record = await ended(store)
    assert await store.conversations.forget("bob", record.context_id) is False
    assert await store.conversations.forget("ann", "c99") is False
    assert await store.runs.find(record.id) == record
    assert await store.conversations.forget("ann", record.context_id) is True
    assert await store.conversations.forget("ann", record.context_id) is False


async def test_many_events_are_forgotten_in_portions(store: Store) -> None:
    record = await ended(store, chunks=2_500)
    beside = await ended(store, context_id=record.context_id, chunks=800)
    await store.conversations.forget("ann", record.context_id)
    assert await store.log.events(record.id) == await store.log.events(beside.id) == []


async def test_a_conversation_that_answers_a_query_is_not_forgotten(store: Store) -> None:
    record, log = await begun(store)
    log.chunk(b'"Secret"')
    with pytest.raises(ConversationBusyError):
        await store.conversations.forget("ann", record.context_id)
    await log.finish(b'{"type":"done"}', RunEnd("completed", "Secret.", 1, 1, False, "m"))
    assert await store.conversations.forget("ann", record.context_id) is True
    assert await rows_with(store, "ecret") == []


async def test_a_query_finds_a_conversation_that_is_being_forgotten_or_does_not(store_url: str) -> None:
    async with open_store(store_url, worker="worker-1") as store:
        for _ in range(20):
            first = await ended(store)
            asked, forgotten = await asyncio.gather(
                begun(store, context_id=first.context_id),
                store.conversations.forget("ann", first.context_id),
                return_exceptions=True,
            )
            assert (isinstance(asked, UnknownConversationError), forgotten is True) in ((True, True), (False, False))
            assert (await store.conversations.load("ann", first.context_id) is None) is (forgotten is True)


async def test_on_two_workers_a_query_finds_a_conversation_that_is_being_forgotten_or_does_not(
    postgresql_url: str,
) -> None:
    async with open_store(postgresql_url, worker="one") as one, open_store(postgresql_url, worker="two") as two:
        for _ in range(20):
            first = await ended(one)
            asked, forgotten = await asyncio.gather(
                begun(two, context_id=first.context_id),
                one.conversations.forget("ann", first.context_id),
                return_exceptions=True,
            )
            assert (isinstance(asked, UnknownConversationError), forgotten is True) in ((True, True), (False, False))


async def test_a_list_begins_with_what_was_used_last(store_url: str) -> None:
    clock = iter(range(1, 1000))
    async with open_store(store_url, worker="worker-1", now=lambda: float(next(clock))) as store:
        names = [(await store.conversations.create("ann")).context_id for _ in range(4)]
        await store.conversations.append("ann", names[1], exchange())
        listed = await store.conversations.list("ann", limit=10)
    assert [each.context_id for each in listed] == [names[1], names[3], names[2], names[0]]
    assert listed[0].updated_at > listed[0].created_at


async def test_pages_of_a_list_hold_each_conversation_once(store_url: str) -> None:
    async with open_store(store_url, worker="worker-1", now=lambda: 1.0) as store:  # all at the same time
        names = {(await store.conversations.create("ann")).context_id for _ in range(7)}
        await store.conversations.create("bob")
        pages, before = [], None
        while page := await store.conversations.list("ann", limit=3, before=before):
            pages.append([each.context_id for each in page])
            before = pages[-1][-1]
    assert [len(page) for page in pages] == [3, 3, 1]
    assert {name for page in pages for name in page} == names


async def test_a_list_shows_a_label_alone_and_only_ones_own(store: Store) -> None:
    mine = await store.conversations.create("ann", project_id="p\0'1")
    await store.conversations.create("ann", project_id="p2")
    theirs = await store.conversations.create("bob", project_id="p\0'1")
    listed = await store.conversations.list("ann", project_id="p\0'1")
    assert [(each.context_id, each.project_id) for each in listed] == [(mine.context_id, "p\0'1")]
    assert await store.conversations.list("ann", before=theirs.context_id) is None


async def test_a_title_is_the_first_question_until_the_user_gives_another(store: Store) -> None:
    record = await ended(store)
    await store.conversations.append("ann", record.context_id, exchange("Second question?", run_id=record.id))
    (listed,) = await store.conversations.list("ann")
    assert (listed.title, listed.run_id) == ("Secret question?", None)
    renamed = await store.conversations.rename("ann", record.context_id, "100% \0 mine")
    assert renamed is not None
    assert renamed.title == "100% \0 mine"
    assert await store.conversations.rename("bob", record.context_id, "Theirs") is None
    assert await store.conversations.list("ann") == [renamed]


async def test_a_conversation_that_no_run_began_gets_its_title_from_what_is_appended(store: Store) -> None:
    made = await store.conversations.create("ann")
    assert [each.title for each in await store.conversations.list("ann")] == [""]
    await store.conversations.append("ann", made.context_id, exchange("A\nB?"))
    await store.conversations.append("ann", made.context_id, exchange("C?", run_id="run-2"))
    assert [each.title for each in await store.conversations.list("ann")] == ["A B?"]


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("ÄPFEL", ["apples"]),
        ("100%", ["percent"]),
        ("a_b", ["underscore"]),
        ('say "', ["quote"]),
        ("\\n", ["backslash"]),
        ("second", ["percent"]),
        ("  ", ["backslash", "quote", "underscore", "percent", "apples"]),
        ("answer", []),
    ],
)
async def test_a_search_finds_what_titles_and_questions_say(store: Store, search: str, found: list[str]) -> None:
    questions = {
        "apples": "Wo sind die Äpfel?",
        "percent": "Is it 100% sure?",
        "underscore": "What does a_b mean?",
        "quote": 'Why does it say "no"?',
        "backslash": r"What is \n and a%b, axb?",
    }
    names = {}
    for name, question in questions.items():
        made = await store.conversations.create("ann")
        names[made.context_id] = name
        await store.conversations.append("ann", made.context_id, exchange(question, "The answer.", run_id=name))
        if name == "percent":
            await store.conversations.append("ann", made.context_id, exchange("And the second?", run_id="more"))
    theirs = await store.conversations.create("bob")
    await store.conversations.append("bob", theirs.context_id, exchange("100% Äpfel, second a_b", run_id="bobs"))
    listed = await store.conversations.list("ann", search=search)
    order = {name: at for at, name in enumerate(["percent", "backslash", "quote", "underscore", "apples"])}
    assert sorted((names[each.context_id] for each in listed), key=order.get) == sorted(found, key=order.get)


async def test_pages_of_messages_hold_each_once_and_the_newest_first(store: Store) -> None:
    made = await store.conversations.create("ann")
    for at in range(5):
        await store.conversations.append("ann", made.context_id, exchange(f"Q{at}?", f"A{at}.", run_id=f"run-{at}"))
    numbers, before = [], None
    while True:
        page = await store.conversations.page("ann", made.context_id, limit=3, before=before)
        assert page is not None
        numbers = [each.n for each in page.messages] + numbers
        if not page.has_earlier:
            break
        before = page.messages[0].n
    assert numbers == list(range(1, 11))
    assert await store.conversations.page("bob", made.context_id, limit=3) is None


async def test_a_page_has_a_bounded_size_and_at_least_one_message(store: Store) -> None:
    made = await store.conversations.create("ann")
    for at in range(3):
        await store.conversations.append(
            "ann", made.context_id, exchange(f"Q{at}?", "x" * (PAGE_CHARS * 3 // 4), run_id=f"run-{at}")
        )
    page = await store.conversations.page("ann", made.context_id, limit=100)
    assert page is not None
    assert [each.n for each in page.messages] == [5, 6]
    assert page.has_earlier
    await store.conversations.append("ann", made.context_id, exchange("Q?", "x" * PAGE_CHARS, run_id="large"))
    page = await store.conversations.page("ann", made.context_id, limit=100)
    assert page is not None
    assert [each.n for each in page.messages] == [8]


async def test_of_a_long_conversation_so_much_is_loaded_as_a_history_may_need(store: Store) -> None:
    made = await store.conversations.create("ann")
    for at in range(6):
        await store.conversations.append(
            "ann", made.context_id, exchange(f"Q{at}?", "x" * 900_000, run_id=f"run-{at}", steps=(STEP,))
        )
    found = await store.conversations.load("ann", made.context_id)
    assert found is not None
    assert [message.content[:3] for message in found.messages if message.role == "user"] == ["Q4?", "Q5?"]
    assert found.earlier == 8
    history = history_for_model(found.messages, most_tokens=100_000, earlier=found.earlier)
    assert history.omitted == 10
