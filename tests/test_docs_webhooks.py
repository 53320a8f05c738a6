"""docs/chat.md, Webhooks: the receiver takes what is sent and nothing else, and names and numbers are the product's."""

import base64
import json
import re
import runpy
import threading
from http.server import HTTPServer
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import insert

from bt_runtime.testing import FakeClock
from oracle.core.metrics import Metrics
from oracle.features.webhooks import sending
from oracle.features.webhooks.sending import WebhookSender, signed
from oracle.runs.storage import webhooks
from oracle.runs.storage.store import open_store
from oracle.runs.storage.webhooks import Message
from tests.oracle.runs.storage.making import DONE, END, begun
from tests.oracle.runs.storage.test_webhooks import ASKED, new_run, rows
from tests.support.stores import sqlite_url

PAGE = (
    (Path(__file__).parents[1] / "docs" / "chat.md")
    .read_text(encoding="utf-8")
    .split("## Webhooks")[1]
    .split("\n## ")[0]
)
KEY = b"0123456789abcdef01234567"


@pytest.fixture
def receiver(tmp_path, monkeypatch):
    """The example of the page as a running server, and what it has taken."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "receiver.py"
    file.write_text(code, encoding="utf-8")
    monkeypatch.setenv("ORACLE_WEBHOOK_SECRET", f"whsec_{base64.b64encode(KEY).decode()}")
    server = HTTPServer(("127.0.0.1", 0), runpy.run_path(str(file))["Receiver"])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


async def test_the_receiver_takes_each_message_once(receiver, tmp_path, capsys):
    async with open_store(sqlite_url(tmp_path / "oracle.db"), worker="w", webhook_urls=[receiver]) as store:
        sender = WebhookSender(
            outbox=store.webhooks,
            key=KEY,
            hosts=[],
            private_hosts=["127.0.0.1"],
            metrics=Metrics(),
            clock=FakeClock(),
        )
        await (await begun(store)).finish(DONE, END)
        [row] = await rows(store)
        assert await sender.send_due(receiver) == 1
        assert await rows(store) == []
        again = {**row._asdict(), "due_at": 0.0}  # as if its worker had died before it noted that
        await store.write(lambda connection: connection.execute(insert(webhooks.webhook), again))
        assert await sender.send_due(receiver) == 1
        await sender.__aexit__()
    assert capsys.readouterr().out.count("run.finished run-1\n") == 1


@pytest.mark.parametrize("change", ["body", "key", "time", "id"])
def test_the_receiver_refuses_what_is_not_genuine(receiver, change, capsys):
    message, at = Message("msg_1", receiver, b'{"type":"run.finished","data":{"run_id":"r"}}', 1, 0.0), 4_000_000_000.0
    headers = signed(message, key=KEY, at=at if change == "time" else sending.time.time())
    if change == "key":
        headers = signed(message, key=b"another", at=sending.time.time())
    if change == "id":
        headers["webhook-id"] = "msg_2"
    body = message.body + (b" " if change == "body" else b"")
    assert httpx2.post(receiver, content=body, headers=headers, trust_env=False).status_code == 401
    assert capsys.readouterr().out == ""


async def test_the_tables_name_what_is_sent(tmp_path):
    async with open_store(sqlite_url(tmp_path / "oracle.db"), worker="w", webhook_urls=["https://a.b"]) as store:
        log = await begun(store)
        run = await store.runs.begin(new_run("run-2"))
        await store.write(store.interrupts.noting(run, ASKED))
        await log.finish(DONE, END)
        bodies = [json.loads(row.body) for row in await rows(store)]
    assert {body["type"] for body in bodies} == {"run.finished", "run.pending"}
    for body in bodies:
        (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| `{body['type']}` "))
        assert {
            "run_id",
            "context_id",
            "user_id",
            *re.findall(r"`(\w+)`", line.rpartition("|")[0].rpartition("|")[2]),
        } == (set(body["data"]))
    (example,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    finished = next(body for body in bodies if body["type"] == "run.finished")
    assert list(json.loads(example)["data"]) == list(finished["data"])
