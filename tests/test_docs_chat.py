"""docs/chat.md: the calls work, and its clients, chunks, filters and bodies are those of the service."""

import json
import re
from pathlib import Path

from oracle_client import Conversation

from oracle.server.api.bodies import QueryRequest
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.core.test_chunks import GOLDEN
from tests.oracle.server.api.conftest import HANGS, quiet_logs, start  # noqa: F401  fixtures

PAGE = (Path(__file__).parents[1] / "docs" / "chat.md").read_text(encoding="utf-8")
CALLS = re.findall(r"^GET (.+)$", PAGE, re.MULTILINE)
READING = ScriptedTurn(tool_calls=(ScriptedCall("vault_read", {"path": "login"}),))


async def test_every_documented_call_is_answered(start, tmp_path):  # noqa: F811
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "login.md").write_text("# Login\n", encoding="utf-8")
    service = await start([READING, ScriptedTurn(text="Here.")])
    streamed = await service.ask("What does the note about the login say?")
    names = {"RUN": streamed.run_id, "CONTEXT": streamed.done["context_id"]}
    assert len(CALLS) > 15
    for call in CALLS:
        response = await service.client.get(re.sub("RUN|CONTEXT", lambda found: names[found[0]], call))
        assert response.status_code == 200, call
        assert response.content


async def test_the_curl_calls_ask_and_resume(start):  # noqa: F811
    service = await start()
    [body] = re.findall(r"-d '(.+)'", PAGE)
    asked = await service.client.post("/api/oracle/stream", content=body, headers={"Content-Type": "application/json"})
    [(path, last)] = re.findall(r"curl -N http://127\.0\.0\.1:8000(/\S+RUN\S*) -H 'Last-Event-ID: (\d+)'", PAGE)
    path = path.replace("RUN", asked.headers["X-Run-Id"])
    rest = await service.client.get(path, headers={"Last-Event-ID": last})
    assert (asked.status_code, rest.status_code) == (200, 200 if f"id: {int(last) + 1}\n" in asked.text else 204)


def test_every_field_of_a_question_and_every_type_of_chunk_is_on_the_page():
    table = PAGE.split("| field | meaning |")[1].split("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", "".join(line.split("|")[1] for line in table.splitlines() if line))) == set(
        QueryRequest.model_fields
    )
    [block] = re.findall(r"```jsonl\n(.*?)```", PAGE, re.DOTALL)
    shown = {each["type"]: each for each in map(json.loads, block.splitlines())}
    chunks = {each["type"]: each for each in GOLDEN["chunks"].values()}
    assert shown.keys() == chunks.keys()
    assert [name for name, each in shown.items() if not each.keys() <= chunks[name].keys()] == []


async def test_every_filter_is_documented_and_exists(start):  # noqa: F811
    service = await start()
    document = (await service.client.get("/openapi.json")).json()
    known = {each["name"] for each in document["paths"]["/api/runs"]["get"]["parameters"]}
    (table,) = re.findall(r"\| filter \| runs \|\n\|[-|]+\n((?:\|.*\n)+)", PAGE)
    named = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == known - {"limit", "before", "counts"}


async def test_the_python_client_of_the_page_asks_twice(start, capsys):  # noqa: F811
    service = await start([ScriptedTurn(text="In login.py."), ScriptedTurn(text="In logout.py.")])
    [code] = re.findall(r"```python\n(from oracle_client.+?)```", PAGE, re.DOTALL)
    names = {"__name__": "page"}
    exec(code.replace("https://oracle.example.com", f"http://127.0.0.1:{service.port}"), names)
    assert names["Conversation"] is Conversation
    await names["talk"]()
    assert capsys.readouterr().out == "In login.py.In logout.py.\n"


async def test_the_python_client_of_the_page_resumes_and_cancels(start, capsys):  # noqa: F811
    service = await start([ScriptedTurn(text=("In ", "login", ".py.")), HANGS])
    [code] = re.findall(r"```python\n(async def cut_and_resume.+?)```", PAGE, re.DOTALL)
    names = {"Conversation": Conversation}
    exec(code.replace("https://oracle.example.com", f"http://127.0.0.1:{service.port}"), names)
    await names["cut_and_resume"]()
    assert capsys.readouterr().out == "In login.py.\nuser_cancelled\n"
