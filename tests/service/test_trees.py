"""Trees of a service that runs: saved over HTTP, written by an editor, checked out by git; no restart."""

import asyncio
import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.service.server import Client, Server, serving

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long("starts a service of its own")]

PATIENCE_S = 30.0
PART = "tree: part\ninternal: true\nparameters: {words: str}\nroot: {say: '${words}'}\n"
WHOLE = "tree: whole\nroot:\n  sequence:\n    - subtree: {tree: part, with: {words: One.}}\n    - stop: completed\n"


@pytest_asyncio.fixture(loop_scope="session")
async def server(tmp_path):
    async with serving(tmp_path, with_provider=False) as server:
        yield server


@pytest.fixture
def folder(server: Server) -> Path:
    """Where a service saves trees by default."""
    return server.data / "trees"


async def save(client: Client, name: str, source: str, version: str | None) -> dict[str, Any]:
    response = await client.http.put(f"/api/trees/{name}", json={"source": source, "version": version})
    assert response.status_code == 200, response.text
    saved: dict[str, Any] = response.json()
    return saved


async def tree(client: Client, name: str) -> dict[str, Any]:
    return dict((await client.http.get(f"/api/trees/{name}")).json())


async def tree_with(client: Client, name: str, fields: Mapping[str, object]) -> dict[str, Any]:
    """The tree once it has these values; without a restart, and without a query that would look for it."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found = await tree(client, name)
            if fields.items() <= found.items():
                return found


async def answer(client: Client, name: str = "whole") -> str:
    return str((await client.ask_whole("Why?", tree=name))["answer"]).partition("\n\n")[0]


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


async def test_a_saved_tree_answers_the_next_query_and_after_a_restart(server, connect, folder) -> None:
    client = connect(server)
    await save(client, "part", PART, None)
    first = await save(client, "whole", WHOLE, None)
    assert await answer(client) == "One."
    text = WHOLE.replace("One.", "Two.").replace("sequence:", "sequence: # a comment")
    await save(client, "whole", text, first["version"])
    assert await answer(client) == "Two."
    assert (folder / "whole.yaml").read_bytes() == text.encode()
    refused = await client.http.put("/api/trees/part", json={"source": "tree: part\n", "version": None})
    assert refused.status_code == 409
    await server.stop()
    await server.start()
    again = connect(server)
    assert await answer(again) == "Two."
    versions = (await again.http.get("/api/trees/whole/versions")).json()["versions"]
    assert [(each["how"], each["user_id"]) for each in versions] == [("saved", "local"), ("saved", "local")]


async def test_what_an_editor_writes_is_used_and_what_is_wrong_is_not(server, connect, folder) -> None:
    client = connect(server)
    (folder / "part.yaml").write_text(PART, encoding="utf-8")
    (folder / "whole.yaml").write_text(WHOLE, encoding="utf-8")
    await tree_with(client, "whole", {"is_current": True})
    assert await answer(client) == "One."
    (folder / "part.yaml").write_text(PART.replace("say", "sya"), encoding="utf-8")
    broken = await tree_with(client, "whole", {"is_current": False})
    assert [mistake["file"] for mistake in broken["mistakes"]] == ["part.yaml"]
    assert await answer(client) == "One."
    assert (await client.http.get("/readyz")).json() == {"status": "ready", "broken_trees": 2}
    (folder / "part.yaml").write_text(PART.replace("{say: '${words}'}", "{say: Three.}"), encoding="utf-8")
    await tree_with(client, "whole", {"is_current": True})
    assert await answer(client) == "Three."
    versions = (await client.http.get("/api/trees/part/versions")).json()["versions"]
    assert [each["how"] for each in versions] == ["file", "file"]
    events = [json.loads(line) for line in server.logged().splitlines() if line.startswith("{")]
    (rejected,) = [each for each in events if each["event"] == "tree.rejected" and each["tree"] == "whole"]
    assert "part.yaml:4:8: there is no node kind 'sya'" in rejected["mistakes"]
    (reloaded,) = [each for each in events if each["event"] == "tree.reloaded" and each["tree"] == "whole"]
    assert "~ sequence/subtree/say: text" in reloaded["difference"]


async def test_the_files_of_a_commit_are_swapped_together(server, connect, folder) -> None:
    client = connect(server)
    git(folder, "init", "--quiet")
    for parameter in ("words", "text"):
        (folder / "part.yaml").write_text(PART.replace("words", parameter), encoding="utf-8")
        (folder / "whole.yaml").write_text(WHOLE.replace("words", parameter), encoding="utf-8")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "--message", parameter)
    with_text = await tree_with(client, "whole", {"is_current": True, "source": WHOLE.replace("words", "text")})
    git(folder, "checkout", "--quiet", "HEAD~1")
    with_words = await tree_with(client, "whole", {"is_current": True, "source": WHOLE})
    assert with_text["run_version"] != with_words["run_version"]
    assert await answer(client) == "One."
    assert "tree.rejected" not in server.logged()


async def test_checks_of_clients_that_have_left_hold_neither_others_nor_the_end_of_the_process(
    server: Server, connect: Callable[[Server], Client]
) -> None:
    waits = "".join("    - wait: {until: count > 0}\n" for _ in range(1_900))
    heavy = f"tree: heavy\nblackboard:\n  count: {{type: int, default: 0}}\nroot:\n  parallel:\n{waits}"
    client, leaving = connect(server), connect(server)
    checks = [asyncio.create_task(leaving.http.post("/api/trees/check", json={"source": heavy})) for _ in range(8)]
    for _ in range(3):
        assert (await client.http.get("/healthz")).status_code == 200
    for check in checks:
        check.cancel()
    await asyncio.wait(checks)
    checked = await client.http.post("/api/trees/check", json={"source": WHOLE.replace("part", "use_tools")})
    assert checked.status_code == 200
    checks = [asyncio.create_task(leaving.http.post("/api/trees/check", json={"source": heavy})) for _ in range(8)]
    assert (await client.http.get("/healthz")).status_code == 200
    assert await server.stop() == 0
    await asyncio.gather(*checks, return_exceptions=True)


async def test_a_check_that_takes_too_long_says_what_it_has_not_done(
    local_server: Server, connect: Callable[[Server], Client]
) -> None:
    waits = "".join("    - wait: {until: count > 0}\n" for _ in range(1_900))
    heavy = f"tree: heavy\nblackboard:\n  count: {{type: int, default: 0}}\nroot:\n  parallel:\n{waits}"
    checked = await connect(local_server).http.post("/api/trees/check", json={"source": heavy})
    assert [each["code"] for each in checked.json()["warnings"]] == ["not-judged"]
