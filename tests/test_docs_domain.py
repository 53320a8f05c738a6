"""docs/domain.md: every block is done in order, from an empty folder, against a provider on loopback."""

import asyncio
import json
import re
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from oracle.cli import main
from oracle.llm.scripted import ScriptedCall, ScriptedTurn
from oracle.server.api.app import build_app
from oracle.server.settings.reading import read_settings
from oracle.server.wiring.domains import domain_of
from oracle.server.wiring.service import open_service
from tests.support.provider import StandInProvider
from tests.support.waiting import until

PAGE = (Path(__file__).parents[1] / "docs" / "domain.md").read_text(encoding="utf-8").partition("## Prompt segments")[0]
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
FILE = re.compile(r"(?:# |<!-- )(\S+\.\w+)(?: -->)?\n")
CALLS = [text for kind, text in BLOCKS if kind == "http"]
DONE = '\n\n<signal type="context_sufficient"><sources_found>1</sources_found><confidence>0.9</confidence></signal>'


@pytest.fixture
def printed(tmp_path, monkeypatch, capfd):
    """The page is done up to the service; what its last commands have printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ORACLE_LLM", "offline")

    def done(line):
        program, *arguments = shlex.split(line)
        if program == "rm":
            Path(arguments[0]).unlink()
        elif program == "export":
            monkeypatch.setenv(*arguments[0].split("="))
        else:
            assert program == "oracle"
            assert main(arguments) == 0, capfd.readouterr().err
        return capfd.readouterr().out

    printed = ""
    for kind, text in BLOCKS:
        if kind in {"yaml", "python", "markdown"}:
            name = FILE.match(text)
            (tmp_path / name[1]).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name[1]).write_text(text[name.end() :], encoding="utf-8")
        elif kind == "text":
            shown = "".join(".*?" if part == "…" else re.escape(part) for part in re.split("(…)", text))
            assert re.fullmatch(shown, printed, re.DOTALL), printed
        elif kind == "sh":
            printed = "".join(map(done, text.splitlines()))
    return printed


def turn(tool, **arguments):
    return ScriptedTurn(tool_calls=(ScriptedCall(tool, arguments),))


TURNS = [
    *(turn("find_order", number=1042), ScriptedTurn(f"It was shipped on 2 March.{DONE}")),
    *(turn("start_return", number=7), ScriptedTurn(f"The label is on its way.{DONE}")),
    *(turn("refund", number=1042, amount=240), ScriptedTurn(f"240 EUR are on their way.{DONE}")),
]


@pytest.mark.long("runs the commands of the page, and a service")
async def test_each_block_of_the_page_works_from_an_empty_folder(printed, tmp_path, monkeypatch):
    assert "1 scenario: 1 passed" in printed
    async with StandInProvider(TURNS) as provider:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
        settings = read_settings(llm="anthropic", data_dir=tmp_path / "data")
        async with open_service(settings) as parts:
            transport = httpx2.ASGITransport(build_app(parts))
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                await at_work(client)
    offered = [{tool["name"] for tool in request.body.get("tools", ())} for request in provider.requests]
    assert all("find_order" in names for names in offered)
    assert {"refund", "start_return"}.isdisjoint(offered[0])
    assert {"refund", "start_return"} <= offered[-1]
    texts = [json.dumps(request.body["system"]) for request in provider.requests]
    assert all("assistant of shop" in text and "source code" not in text for text in texts)
    assert "approved by a person of the shop" in texts[-1]
    assert "approved by a person of the shop" not in texts[0]
    database = sqlite3.connect(tmp_path / "shop" / "shop.db")
    assert database.execute("SELECT number, amount FROM refunds").fetchall() == [(1042, 240)]
    assert database.execute("SELECT state FROM orders WHERE number = 7").fetchall() == [("return label sent",)]
    database.close()


async def pending(client):
    return (await client.get("/api/oracle/pending")).json()["pending"]


async def at_work(client):
    """What the last section asks for, in its order."""
    me = (await client.get("/api/me")).json()
    assert [each["about"] for each in me["suggestions"]] == ["order", "return", "product"]
    assert (me["project"], me["sources"]) == (None, [])
    asks = [json.loads(text.split("\n", 1)[1]) for text in CALLS if text.startswith("POST /api/oracle/stream")]
    for ask, said in zip(asks[:2], ["shipped on 2 March", "label is on its way"], strict=True):
        assert said in (await client.post("/api/oracle/stream", json=ask)).text
    waiting = asyncio.create_task(client.post("/api/oracle/stream", json=asks[2]))
    (asked,) = await until(lambda: pending(client), guard_s=60)
    assert asked["interrupt"]["tool_name"] == "refund"
    assert asked["interrupt"]["arguments"] == {"number": 1042, "amount": 240}
    call, body = CALLS[-1].split("\n", 1)
    path = call.removeprefix("POST ").replace("RUN", asked["run_id"])
    answered = await client.post(path, json=json.loads(body.replace("ID", asked["interrupt"]["id"])))
    assert answered.status_code == 200
    assert "240 EUR are on their way." in (await waiting).text


def test_the_words_of_the_page_tell_questions_apart_that_it_does_not_have(printed, tmp_path):
    classifier = domain_of(read_settings(domain=tmp_path / "shop")).classifier()
    for question, query_type in {
        "has my parcel left yet": "order",
        "I'd like to exchange the lamp": "return",
        "when do you give me my money back": "refund",
        "how much does a desk cost": "product",
        "thank you so much": "chat",
    }.items():
        assert classifier.classify_query_with(question).query_type == query_type


SERVICE = """
import asyncio, json, sys
from oracle.agent.answering import Ask
from oracle.server.api.app import build_app
from oracle.server.settings.reading import read_settings
from oracle.server.wiring.service import open_service

async def start():
    async with open_service(read_settings()) as parts:
        build_app(parts)
        while not parts.is_prepared():
            await asyncio.sleep(0.01)
        live = await parts.runs.start(Ask("Where is my order 1042?"))
        await live.wait()

asyncio.run(start())
print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.long("loads the service in a fresh Python")
def test_the_desk_loads_nothing_about_code_notes_and_threads(printed, tmp_path):
    environment = {"ORACLE_DOMAIN": "./shop", "ORACLE_LLM": "offline", "ORACLE_DATA_DIR": "data"}
    ran = subprocess.run(
        [sys.executable, "-c", SERVICE], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    loaded = json.loads(ran.stdout.splitlines()[-1])
    assert str(tmp_path / "shop" / "tools.py") in loaded
    tools = [f"oracle.tools.{name}" for name in ("code", "vault", "notes", "threads")]
    about = ("oracle.domains.code.", *tools)
    assert [name for name in loaded if name.startswith(about)] == []
