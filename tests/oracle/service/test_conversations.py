import asyncio

import pytest

from oracle.testing import ScriptedTurn
from tests.oracle.service.conftest import HANGS, TIMESTAMP, in_shared_loop

AGAIN = ScriptedTurn(text='On. <signal type="need_turn"><reason>r</reason></signal>')


async def test_a_conversation_has_its_messages_with_the_notifications_in_their_place(start):
    service = await start([AGAIN])
    streamed = await service.ask("hello", limits={"max_iterations": 2}, project_id="shop")
    kept = (await service.client.get(f"/api/oracle/conversations/{streamed.done['context_id']}")).json()
    assert kept["context_id"] == streamed.done["context_id"]
    assert kept["project_id"] == "shop"
    assert [message["role"] for message in kept["messages"]] == ["user", "system", "system", "assistant"]
    assert kept["messages"][0] == {
        "role": "user", "content": "hello", "at": TIMESTAMP, "metadata": {"run_id": streamed.run_id}
    }  # fmt: skip
    notices = [chunk for chunk in streamed.chunks if chunk["type"] == "system"]
    assert [message["content"] for message in kept["messages"][1:3]] == [each["system_message"] for each in notices]
    assert kept["messages"][1]["metadata"]["system_type"] == "limit_warning"
    assert kept["messages"][3]["content"] == streamed.text
    assert kept["messages"][3]["metadata"]["termination_reason"] == "max_iterations"


async def test_a_deleted_conversation_is_gone_and_cannot_be_continued(service):
    context_id = (await service.ask()).done["context_id"]
    path = f"/api/oracle/conversations/{context_id}"
    deleted = await service.client.delete(path)
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert (await service.client.get(path)).status_code == 404
    assert (await service.client.delete(path)).status_code == 404
    continued = await service.client.post("/api/oracle", json={"question": "and?", "context_id": context_id})
    assert continued.status_code == 404


async def test_deleting_a_conversation_that_is_answering_cancels_the_query_first(start):
    service = await start([HANGS])
    async with service.asking() as streamed:
        await streamed.until("here")
        status = (await service.client.get(f"/api/oracle/runs/{streamed.run_id}")).json()
        path = f"/api/oracle/conversations/{status['context_id']}"
        async with asyncio.timeout(20):
            assert (await service.client.delete(path)).status_code == 204
            await streamed.rest()
    told = (await service.client.get(f"/api/oracle/runs/{streamed.run_id}")).json()
    assert (told["status"], told["termination_reason"], told["forgotten"]) == ("finished", "user_cancelled", True)
    assert (await service.client.get(path)).status_code == 404


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("context_id", ["never-was", "a" * 65, "%00", "%ff", "a%0ab"])
@in_shared_loop
async def test_a_conversation_that_is_not_there_is_a_404(shared, method, context_id):
    response = await shared.client.request(method, f"/api/oracle/conversations/{context_id}")
    assert (response.status_code, response.json()) == (404, {"detail": "There is no such conversation."})
