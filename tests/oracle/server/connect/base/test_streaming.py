"""Streams of adapters: the translator's frames, whole or from anywhere on."""

import asyncio

from oracle.core.chunks import QuestionAsked
from oracle.runs.storage.runs import RunTable
from oracle.testing import ScriptedTurn
from tests.oracle.server.api.asking import write_trees
from tests.oracle.server.api.conftest import HANGS
from tests.oracle.server.api.test_parked import answer, parked
from tests.oracle.server.connect.base.adapter import PlainTranslator
from tests.oracle.server.connect.base.conftest import frames_of, until


async def test_a_stream_has_the_translators_frames_and_so_does_every_later_reading(plain):
    client = await plain([ScriptedTurn(text=("One ", "two."))])
    body = (await client.post("hi", metadata={"topic": "t"})).content
    opening, *texts, end, last = frames_of(body)
    assert (opening["topic"], "".join(each["text"] for each in texts), end, last) == (
        "t",
        "One two.",
        {"end": "completed"},
        "[DONE]",
    )
    frames = [frame + b"\n\n" for frame in body.split(b"\n\n")[:-1]]
    for after in range(len(frames) + 2):
        read = await client.service.client.get(f"/plain/runs/{opening['run']}?after={after}")
        assert read.content == b"".join(frames[after:])


async def test_a_live_stream_goes_on_behind_what_the_client_has(plain):
    client = await plain([HANGS])
    async with client.asking("hi") as incoming:
        first = await until(incoming, b"here")
    run = frames_of(first)[0]["run"]
    async with client.service.client.stream("GET", f"/plain/runs/{run}?after=2") as response:
        incoming = response.aiter_raw()
        rest = await until(incoming, b"here")
        await client.service.client.post(f"/api/oracle/runs/{run}/cancel")
        rest += b"".join([part async for part in incoming])
    assert (first + rest).startswith(first)
    whole = (await client.service.client.get(f"/plain/runs/{run}")).content
    assert b"\n\n".join(whole.split(b"\n\n")[2:]) == rest


async def test_a_whole_answer_is_what_the_chunks_come_to(plain):
    client = await plain([ScriptedTurn(text=("One ", "two."))])
    assert (await client.ask("hi"))["text"] == "One two."


async def test_a_stream_ends_where_its_run_waits_for_a_person_and_goes_on_when_that_was_answered(plain, tmp_path):
    write_trees(tmp_path)
    client = await plain()
    waiting = await client.post("hi", tree="question")
    opening, *_, end, last = frames_of(waiting.content)
    assert (end, last) == ({"end": "waiting"}, "[DONE]")
    again = await client.service.client.get(f"/plain/runs/{opening['run']}")
    assert again.content == waiting.content
    async with client.service.client.stream("GET", f"/plain/runs/{opening['run']}?after=1") as response:
        assert await anext(response.aiter_raw()) == b"".join(
            frame + b"\n\n" for frame in waiting.content.split(b"\n\n")[1:-1]
        )
    await answer(client.service, opening["run"], decision="answer", answer="main")
    rest = await client.service.client.get(f"/plain/runs/{opening['run']}")
    first, text, end, last = frames_of(rest.content)
    assert (first, text["text"], end, last) == (opening, "It is main.", {"end": "completed"}, "[DONE]")


async def test_a_run_whose_protocol_has_no_word_for_that_is_waited_for(plain, tmp_path, monkeypatch):
    monkeypatch.setattr(PlainTranslator, "parked", lambda _: ())
    write_trees(tmp_path)
    client = await plain()
    async with client.asking("hi", tree="question") as incoming:
        opening = frames_of(await until(incoming, b"run"))[0]
        await parked(client.service, opening["run"])
        await answer(client.service, opening["run"], decision="answer", answer="main")
        body = b"".join([part async for part in incoming])
    assert frames_of(body)[-2:] == [{"end": "completed"}, "[DONE]"]


TWICE = """\
tree: twice
blackboard:
  first: { type: str, default: "" }
  second: { type: str, default: "" }
root:
  finally:
    child:
      sequence:
        - classify_query
        - compose_prompt
        - ask_user: { question: "First?", options: [a, b], into: first, expires: null }
        - ask_user: { question: "Second?", options: [c, d], into: second, expires: null }
        - stop: completed
    then: { sequence: [explain_stop, finish] }
"""


async def test_a_run_that_went_on_and_waits_again_while_it_was_looked_at_is_read_to_what_it_waits_for(
    plain, tmp_path, monkeypatch
):
    monkeypatch.setattr(PlainTranslator, "frames", _asking(PlainTranslator.frames))
    (tmp_path / "twice.yaml").write_text(TWICE)
    client = await plain()
    waiting = frames_of((await client.post("hi", tree="twice")).content)
    assert [each["asks"] for each in waiting if "asks" in each] == ["First?"]
    find, answered = RunTable.find, []

    async def find_late(self, run_id, **options):
        if options or answered:
            return await find(self, run_id, **options)
        answered.append(run_id)
        await answer(client.service, run_id, decision="answer", answer="a")
        async with asyncio.timeout(20):
            while not (await client.service.client.get("/api/oracle/pending")).json()["pending"]:
                pass
        return await parked(client.service, run_id)

    monkeypatch.setattr(RunTable, "find", find_late)
    read = frames_of((await client.service.client.get(f"/plain/runs/{waiting[0]['run']}")).content)
    assert answered
    assert [each["asks"] for each in read if "asks" in each] == ["First?", "Second?"]


def _asking(frames):
    def with_questions(self, n, chunk):
        if isinstance(chunk, QuestionAsked):
            return (b'data: {"asks":"%b"}\n\n' % chunk.interrupt.message.encode(),)
        return frames(self, n, chunk)

    return with_questions
