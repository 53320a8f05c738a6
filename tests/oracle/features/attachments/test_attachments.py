"""Files with questions over HTTP: uploaded or inline, kept with their run, seen by the model."""

from base64 import b64decode, b64encode

import pytest
import sqlalchemy as sa

from oracle.agent.equipment import Hooks
from oracle.features.attachments.asking import table_of
from oracle.features.attachments.keeping import KEPT_S, attachment
from oracle.features.attachments.showing import Completion
from oracle.llm.protocol import ModelFault
from oracle.runs.options import RunOptions
from oracle.runs.storage.errors import StoreUnavailableError
from oracle.testing import ScriptedTurn
from tests.oracle.features.attachments import files
from tests.oracle.server.api.conftest import ALICE, BOB, HANGS, TOKENS

SAYS = [ScriptedTurn(text="A cat.")]
ASK, UPLOAD = "/api/oracle", "/api/attachments"


async def upload(service, data, name="a.bin", headers=None, status=201):
    response = await service.client.post(UPLOAD, params={"name": name}, content=data, headers=headers)
    assert response.status_code == status, response.text
    return response.json()


def inline(data, name="a.bin"):
    return {"name": name, "data": b64encode(data).decode()}


@pytest.fixture
def serve(start):
    """Starts services whose requests to the model have the files."""

    async def serving(turns=SAYS, **options):
        complete = Completion(None)
        service = await start(turns, hooks=Hooks(complete=complete), **options)
        complete.read = table_of(service.parts).read
        return service

    return serving


async def kept(service):
    query = sa.select(attachment.c.name, attachment.c.run_id).order_by(attachment.c.name)
    return await service.parts.store.database.read(lambda connection: [tuple(row) for row in connection.execute(query)])


def sent(service, at=-1):
    """What the model got in place of the question's, or an earlier question's, content."""
    return [each["content"] for each in service.model.requests[at].messages if each["role"] == "user"]


async def test_the_model_gets_uploaded_and_inline_files_before_the_question(serve):
    service = await serve()
    picture = await upload(service, files.png(), "../cat.png")
    assert picture == {"id": picture["id"], "name": "cat.png", "media_type": "image/png", "size": 33, "tokens": 1}
    given = [{"id": picture["id"]}, inline(files.pdf(2), "plan.pdf"), inline(b"```\nx\n", "n`t.txt")]
    answer = (await service.client.post(ASK, json={"question": "What is it?", "attachments": given})).json()
    assert answer["answer"] == "A cat."
    ((image, document, text, question),) = sent(service)
    assert image["type"] == "image"
    assert image["source"]["media_type"] == "image/png"
    assert b64decode(image["source"]["data"]) == files.png()
    assert document["title"] == "plan.pdf"
    assert b64decode(document["source"]["data"]) == files.pdf(2)
    assert text == {"type": "text", "text": 'The attached file "n\'t.txt":\n````\n```\nx\n\n````'}
    assert question == {"type": "text", "text": "What is it?"}
    run = await service.parts.store.runs.find(answer["run_id"])
    assert [each["name"] for each in run.input["attachments"]] == ["cat.png", "plan.pdf", "n't.txt"]
    assert "data" not in run.input["attachments"][1]
    assert [run_id for _, run_id in await kept(service)] == [answer["run_id"]] * 3


async def test_a_conversation_shows_its_files_and_sends_them_with_the_next_question(serve):
    service = await serve()
    first = await service.ask("What is it?", attachments=[inline(files.png(), "cat.png")])
    context_id = first.done["context_id"]
    page = (await service.client.get(f"/api/oracle/conversations/{context_id}")).json()
    (block,) = page["messages"][0]["metadata"]["attachments"]
    assert (block["name"], block["media_type"], block["size"]) == ("cat.png", "image/png", 33)
    got = await service.client.get(f"{UPLOAD}/{block['id']}")
    assert (got.content, got.headers["content-type"]) == (files.png(), "image/png")
    assert got.headers["content-disposition"] == "attachment"
    assert got.headers["x-content-type-options"] == "nosniff"
    assert "attachments" not in page["messages"][1]["metadata"]
    await service.ask("And its colour?", context_id=context_id)
    earlier, now = sent(service)
    assert [each["type"] for each in earlier] == ["image", "text"]
    assert now == [{"type": "text", "text": "And its colour?"}]


async def test_files_that_the_history_has_no_room_for_are_named(serve):
    service = await serve()
    first = await service.ask("How many?", attachments=[inline(files.pdf(5), "plan.pdf")])
    await service.ask("Which?", context_id=first.done["context_id"], limits={"token_budget": 12_000})
    assert sent(service)[0] == "[Attached to this question, and not sent again: plan.pdf]\n\nHow many?"


async def test_files_that_the_provider_refused_are_named_so_that_the_conversation_goes_on(serve):
    refusal = ModelFault("provider_failed", "The request was not taken.", narrower="bad_request")
    broken = ModelFault("provider_failed", "The connection broke.", narrower="broken_off")
    service = await serve([ScriptedTurn(fault=refusal), *SAYS, ScriptedTurn(fault=broken), *SAYS])
    first = await service.ask("What is it?", attachments=[inline(files.png(), "cat.png")])
    context_id = first.done["context_id"]
    await service.ask("Well?", context_id=context_id)
    assert sent(service)[0] == "[Attached to this question, and not sent again: cat.png]\n\nWhat is it?"
    await service.ask("And here?", context_id=context_id, attachments=[inline(files.png(), "dog.png")])
    await service.ask("Well?", context_id=context_id)
    assert [each["type"] for each in sent(service)[2]] == ["image", "text"]


async def test_only_the_newest_files_of_a_long_conversation_are_sent(serve):
    service = await serve()
    context_id = None
    for name, pages in (("first.pdf", 45), ("second.pdf", 60)):
        body = {"attachments": [inline(files.pdf(pages), name)], "limits": {"token_budget": 200_000}}
        context_id = (await service.ask("Well?", context_id=context_id, **body)).done["context_id"]
    earlier, now = sent(service)
    assert earlier[0] == {"type": "text", "text": "[Attached: first.pdf, application/pdf; not sent again]"}
    assert now[0]["title"] == "second.pdf"


async def test_what_is_gone_is_named_and_what_cannot_be_read_is_an_error(serve):
    service = await serve()
    first = await service.ask(attachments=[inline(files.png(), "cat.png")])
    await service.parts.store.write(lambda connection: connection.execute(sa.delete(attachment)))
    await service.ask(context_id=first.done["context_id"])
    assert sent(service)[0][0] == {"type": "text", "text": "[Attached: cat.png, image/png; not kept any more]"}

    async def fails(_ids):
        raise StoreUnavailableError("the disk is full")

    service.parts.oracle.equipment.hooks.complete.read = fails
    failed = await service.ask(attachments=[inline(files.png(), "cat.png")])
    assert failed.done["termination_reason"] == "error"
    (error,) = [chunk for chunk in failed.chunks if chunk["type"] == "error"]
    assert error["error"].startswith("The attached files cannot be read at the moment. Please ask again.")


async def test_an_id_that_was_used_can_be_used_again_and_each_run_has_its_own(serve):
    service = await serve()
    file_id = (await upload(service, b"text", "a.txt"))["id"]
    first = await service.ask(attachments=[{"id": file_id}, {"id": file_id}])
    second = await service.ask(attachments=[{"id": file_id}])
    assert sorted(run_id for _, run_id in await kept(service)) == sorted([first.run_id] * 2 + [second.run_id])
    await service.client.delete(f"/api/oracle/conversations/{first.done['context_id']}")
    assert await kept(service) == [("a.txt", second.run_id)]


async def test_others_files_do_not_exist(serve):
    service = await serve(tokens=TOKENS)
    file_id = (await upload(service, b"text", "a.txt", ALICE))["id"]
    body = {"question": "hello", "attachments": [{"id": file_id}]}
    asked = await service.client.post(ASK, json=body, headers=BOB)
    got = await service.client.get(f"{UPLOAD}/{file_id}", headers=BOB)
    gone = await service.client.delete(f"{UPLOAD}/{file_id}", headers=BOB)
    assert [each.status_code for each in (asked, got, gone)] == [404] * 3
    assert asked.json()["detail"].startswith(f"there is no attachment {file_id!r}")
    assert (await service.client.post(ASK, json=body, headers=ALICE)).status_code == 200


@pytest.mark.parametrize(
    ("given", "status", "words"),
    [
        ([inline(files.ZIP, "cat.png")], 415, "'cat.png' is a ZIP archive"),
        ([inline(b"x")] * 50, 422, "at most 10 items"),
        ([{"name": "a", "data": "no base64!"}], 422, "in base64"),
        ([{"name": "a"}], 422, "an attachment has an `id`, or a `name` and `data`"),
        ([{"id": "a", "data": "YQ=="}], 422, "an attachment has an `id`, or a `name` and `data`"),
        ([{"id": "unknown"}], 404, "there is no attachment 'unknown'"),
        (
            [inline(files.pdf(30), "a.pdf")],
            422,
            "the attachments take some 60,000 tokens, and this run may use 50,000",
        ),
    ],
)
async def test_bad_attachments_are_refused_with_what_would_be_right(serve, given, status, words):
    service = await serve()
    response = await service.client.post(ASK, json={"question": "hello", "attachments": given})
    assert response.status_code == status, response.text
    assert words in response.text


async def test_bounds_of_uploads(serve, monkeypatch):
    service = await serve()
    large = await service.client.post(UPLOAD, params={"name": "a"}, content=bytes(10_000_001))
    assert (large.status_code, large.json()) == (413, {"detail": "A body may have at most 10,000,000 bytes."})
    assert "is a ZIP archive" in (await upload(service, files.ZIP, status=415))["detail"]
    monkeypatch.setattr("oracle.features.attachments.asking.MOST_BYTES", 200_000)
    monkeypatch.setattr("oracle.features.attachments.keeping.MOST_WAITING", 350_000)
    data = files.pdf() + bytes(100_000)
    ids = [(await upload(service, data))["id"] for _ in range(3)]
    refused = await service.client.post(UPLOAD, params={"name": "a"}, content=data)
    assert refused.status_code == 429
    assert refused.headers["retry-after"]
    assert "bytes of your files wait for a question; at most 350,000 are kept so" in refused.json()["detail"]
    over = await service.client.post(ASK, json={"question": "hello", "attachments": [{"id": each} for each in ids]})
    assert over.status_code == 413
    assert "at most 200,000 go with a question" in over.text
    assert (await service.client.delete(f"{UPLOAD}/{ids[0]}")).status_code == 204
    await upload(service, data)


async def test_what_no_question_has_goes_after_a_day(serve):
    service = await serve()
    await upload(service, b"waits", "a.txt")
    taken = await service.ask(attachments=[inline(b"taken", "b.txt")])
    old = sa.update(attachment).values(at=service.parts.store.database.now() - KEPT_S - 1)
    await service.parts.store.write(lambda connection: connection.execute(old))
    await service.parts.store.retention.prune(older_than_s=None, most_bytes=None)
    assert await kept(service) == [("b.txt", taken.run_id)]
    await service.parts.store.retention.prune(older_than_s=-60, most_bytes=None)
    assert await kept(service) == []


async def test_retention_by_size_counts_files(serve):
    service = await serve()
    for name in ("a.pdf", "b.pdf"):
        await service.ask(attachments=[inline(files.pdf() + bytes(500_000), name)])
    database = service.parts.store.database
    used = await database.read(lambda connection: database.dialect.used_bytes(connection, 0))
    pruned = await service.parts.store.retention.prune(older_than_s=None, most_bytes=used - 400_000)
    assert pruned.runs == 1
    assert pruned.bytes > 500_000
    assert [name for name, _ in await kept(service)] == ["b.pdf"]


async def test_a_run_that_waits_for_a_place_begins_with_its_files(serve):
    service = await serve([HANGS, *SAYS], options=RunOptions(most_here=1))
    picture = inline(files.png(), "cat.png")
    async with service.asking("first") as first, service.asking("second", attachments=[picture]) as second:
        await service.client.post(f"/api/oracle/runs/{first.run_id}/cancel")
        await second.rest()
    assert second.done["termination_reason"] == "completed"
    assert [each["type"] for each in sent(service)[0]] == ["image", "text"]


async def test_without_the_feature_the_field_is_refused(start):
    service = await start(SAYS, features=("-attachments",))
    body = {"question": "hello", "attachments": [inline(b"x")]}
    refused = await service.client.post(ASK, json=body)
    assert refused.status_code == 422
    assert "this service does not accept 'attachments'; leave it out" in refused.text
    assert (await service.client.post(ASK, json={"question": "hello", "attachments": []})).status_code == 200
