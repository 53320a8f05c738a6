"""Clients that meet another worker with each request: the same conversation, and one run for one question."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from oracle.testing import ScriptedTurn
from tests.oracle.server.api.asking import write_trees
from tests.oracle.server.api.conftest import HANGS, running_service
from tests.oracle.server.connect.base.conftest import PLAIN, Plain, frames_of, until

pytestmark = pytest.mark.long("two workers on PostgreSQL")


@pytest.fixture
async def two(tmp_path, postgresql_url):
    """The same client at two workers."""
    write_trees(tmp_path)
    turns = [[HANGS, ScriptedTurn(text="One.")], [ScriptedTurn(text="Two.")]]
    async with AsyncExitStack() as stack:
        services = [
            await stack.enter_async_context(
                running_service(tmp_path, turns[n], url=postgresql_url, worker=f"worker-{n + 1}", adapters=(PLAIN,))
            )
            for n in range(2)
        ]
        yield [Plain(service, "chat-1") for service in services]


async def test_a_request_that_is_sent_again_gets_the_run_of_another_worker(two):
    one, other = two
    async with one.asking("first?") as incoming:
        first = await until(incoming, b"here")
    async with other.asking("first?", is_repeat=True) as incoming:
        assert await until(incoming, b"here") == first
    assert not other.service.model.requests


@pytest.mark.usefixtures("looked_up_together")
@pytest.mark.parametrize(("named", "asked"), [("chat-1", 1), (None, 4)])
async def test_a_question_of_a_name_that_comes_to_both_at_once_is_asked_once(two, named, asked):
    for each in two:
        each.conversation = named
    posts = [each.post("hi", tree="question", stream=False) for each in (*two, *two)]
    answers = [each.json() for each in await asyncio.gather(*posts)]
    assert len({each["run"] for each in answers}) == asked
    assert len(await two[0].conversations()) == asked


async def test_the_next_question_cancels_a_run_that_another_worker_has_and_nobody_reads(two):
    one, other = two
    async with one.asking("first?") as incoming:
        run_id = frames_of(await until(incoming, b"here"))[0]["run"]
    other.said = [["user", "first?"], ["assistant", "It begins"]]
    await other.ask("second?")
    run = await other.service.parts.store.runs.find(run_id)
    assert run.termination_reason == "user_cancelled"
    (context,) = await other.conversations()
    assert await other.texts(context) == ["first?", run.answer, "second?", "Two."]


async def test_a_run_that_is_read_at_another_worker_is_not_cancelled(two):
    one, other = two
    async with one.asking("first?") as incoming:
        await until(incoming, b"here")
        other.said = [["user", "first?"], ["assistant", "It begins"]]
        assert (await other.post("second?")).status_code == 409
        (context,) = await one.conversations()
        assert (await one.service.parts.store.runs.open_of(context)).status == "running"


async def test_a_stream_at_another_worker_ends_where_the_run_waits(two):
    one, other = two
    async with one.asking("first?", tree="question") as incoming:
        run_id = frames_of(await until(incoming, b"run"))[0]["run"]
        read = await other.service.client.get(f"/plain/runs/{run_id}")
        assert frames_of(read.content)[-2:] == [{"end": "waiting"}, "[DONE]"]
        await until(incoming, b"[DONE]")
