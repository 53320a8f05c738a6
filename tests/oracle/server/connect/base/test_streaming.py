"""Streams of adapters: the translator's frames, whole or from anywhere on."""

from oracle.testing import ScriptedTurn
from tests.oracle.server.api.conftest import HANGS
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
