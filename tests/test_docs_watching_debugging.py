"""docs/watching.md, pausing a run: the calls work, and the answers have the fields that the page shows."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any, get_args

from oracle.features.debugging.command import USAGE
from oracle.runs.storage.breakpoints import BreakpointKind
from tests.oracle.runs.debugging.sessions import LLM_TURN
from tests.oracle.runs.running import PATIENCE_S
from tests.oracle.server.api.conftest import running_service

WATCHING = (Path(__file__).parents[1] / "docs" / "watching.md").read_text(encoding="utf-8")
PAGE = WATCHING.split("\n## Pause a run\n")[1].split("\n## ")[0]
CALLS = re.findall(r"^curl -X (\w+) \$ORACLE(\S+)(?: --json '(.*)')?$", PAGE, re.MULTILINE)
ANSWERS = [json.loads(each) for each in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


def test_every_kind_of_breakpoint_is_explained():
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == set(get_args(BreakpointKind))


def test_every_command_of_the_debugger_is_explained():
    table = PAGE.split("| command | does |")[1].split("\n\n")[0]
    assert {each.split()[0] for each in re.findall(r"`([^`]+)`", table)} - {"failure"} == set(
        re.findall(r"^(\w+) ", USAGE.rpartition("\n")[0], re.MULTILINE)
    )


async def test_the_calls_of_the_page_debug_a_run(tmp_path: Path) -> None:
    answered: list[dict[str, Any]] = []
    async with running_service(tmp_path, debug=True) as service:
        names: dict[str, str] = {}

        async def call(method: str, path: str, body: str) -> dict[str, Any]:
            for name, value in names.items():
                path = path.replace(f"${name}", value)
            answer = await service.client.request(method, path, json=json.loads(body) if body else None)
            assert answer.status_code in (200, 201, 202, 204), (method, path, answer.text)
            return answer.json() if answer.content else {}

        async def until(state: str, tick: int) -> dict[str, Any]:
            async with asyncio.timeout(PATIENCE_S):
                while True:
                    found = await call("GET", "/api/runs/$RUN/debug", "")
                    if found["state"] == state and found["tick"] >= tick:
                        return found

        calls = iter(CALLS)
        answered.append(await call(*next(calls)))
        names["BREAKPOINT"] = answered[0]["id"]
        async with service.asking() as heard:
            names["RUN"] = heard.run_id
            await until("paused", 1)
            answered.append(await call(*next(calls)))
            for method, path, body in calls:
                await call(method, path, body)
                if '"step"' in body:
                    await until("paused", 2)
            await heard.rest()
        assert await call("GET", "/api/debug/breakpoints", "") == {"breakpoints": []}
    for shown, got in zip(ANSWERS, answered, strict=True):
        known = {name: value for name, value in shown.items() if value not in ("…", 119.9) and name != "hit"}
        assert set(shown) == set(got)
        assert {name: got[name] for name in known} == known
    assert answered[1]["hit"]["path"] == LLM_TURN
    said = [chunk["system_message"] for chunk in heard.chunks if chunk.get("system_type") == "paused"]
    first, last = re.findall(r"```text\n(.*)\n(.*)\n```", PAGE)[0]
    assert said[0] == first
    assert re.sub(r"\d+", "", said[1]) == re.sub(r"\d+", "", last)
    assert "Answer in one sentence." in str(service.model.requests[0].messages)
