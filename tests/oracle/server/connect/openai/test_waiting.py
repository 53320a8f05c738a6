"""Runs that wait for a person, as chat completions: a client can decide nothing there, and learns that."""

import asyncio
import json

from oracle.testing import ScriptedTurn
from tests.oracle.server.api.asking import write_trees
from tests.oracle.server.api.test_parked import WRITES, answer, parked
from tests.oracle.server.connect.openai.conftest import COMPLETIONS, assistant, chunks_of, post, text_of, user

ASKED = user("hello")


async def test_a_stream_tells_what_waits_and_goes_on_when_a_person_has_decided(start, tmp_path):
    write_trees(tmp_path)
    service = await start(WRITES)
    body = {"model": "approval", "messages": [ASKED], "stream": True}
    read = b""
    async with service.client.stream("POST", COMPLETIONS, json=body) as response:
        incoming = response.aiter_raw()
        while b"Waiting for approval" not in read:
            read += await anext(incoming)
        await parked(service, response.headers["x-run-id"])
        await answer(service, response.headers["x-run-id"], decision="approve")
        async for piece in incoming:
            read += piece
    chunks = chunks_of(read)
    assert text_of(chunks) == "I write. \n\nDone."
    assert "Decided: approved" in json.dumps(chunks)
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert chunks[0]["model"] == "approval"


async def test_a_whole_answer_that_has_no_text_yet_says_what_the_run_waits_for(start, tmp_path):
    write_trees(tmp_path)
    service = await start([], openai_activity=False)
    first = (await post(service, ASKED, model="question")).json()
    [choice] = first["choices"]
    assert choice["message"]["content"].startswith("This run waits for a person: 'Which branch?' (")
    again = assistant(f"  {choice['message']['content']}\n")
    next_one = await post(service, ASKED, again, user("And?"), model="question")
    assert next_one.status_code == 409, "what the service has said itself is no part of the history"


async def test_a_whole_answer_ends_where_the_run_waits_and_the_next_question_names_what_is_open(start, tmp_path):
    write_trees(tmp_path)
    service = await start([*WRITES, ScriptedTurn(text="Another.")])
    async with asyncio.timeout(20):
        first = (await post(service, ASKED, model="approval")).json()
    message = first["choices"][0]["message"]
    run_id = (await service.client.get("/api/runs")).json()["runs"][0]["run_id"]
    assert message["content"] == (
        f"I write. \n\nThis run waits for a person: 'May vault_write be run?' (vault_write, {run_id}.1). "
        f"Answer in the console or by POST /api/oracle/runs/{run_id}/deliveries, or cancel the run."
    )
    assert "Waiting for approval" in message["reasoning_content"]
    next_one = await post(service, ASKED, assistant(message["content"]), user("And?"), model="approval")
    assert next_one.status_code == 409
    error = next_one.json()["error"]
    assert (error["type"], error["code"]) == ("invalid_request_error", "conflict")
