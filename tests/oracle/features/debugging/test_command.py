"""`oracle debug` against a real service: what a person or a script at the terminal does, and what is wrong is said."""

import asyncio
import io
from collections.abc import Callable
from typing import Any

import pytest

from oracle.cli import main
from tests.oracle.features.debugging.test_calls import AUTH, NODE, until
from tests.oracle.runs.debugging.sessions import LLM_TURN
from tests.oracle.server.api.conftest import ALICE, OLGA, Service

Ran = tuple[int, str, str]


@pytest.fixture
def debug(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """The command with these lines on its standard input."""

    async def run(service: Service, *arguments: str, lines: str = "", token: str = "") -> Ran:
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        monkeypatch.setenv("ORACLE_TOKEN", token)
        url = f"http://127.0.0.1:{service.port}"
        code = await asyncio.to_thread(main, ["debug", *arguments, "--url", url])
        captured = capfd.readouterr()
        return code, captured.out, captured.err

    return run


LINES = """\
p hint
b compose_prompt if turn == 0
c
n
set hint Be brief.
p hint
force warn_near_limits success
d compose_prompt
b llm_turn
q
"""


async def test_a_run_is_stepped_changed_and_let_go(start: Any, debug: Any) -> None:
    service = await start(debug=True)
    begins = {"kind": "start", "user_id": "local"}
    assert (await service.client.post("/api/debug/breakpoints", json=begins)).status_code == 201
    async with service.asking() as heard:
        await until(service, heard.run_id, "paused")
        code, out, err = await debug(service, heard.run_id, lines=LINES)
        assert (code, err) == (0, "")
        await heard.rest()
    for said in (
        "Paused before the first tick.",
        'hint = ""',
        "Breaks before finally/sequence/compose_prompt if turn == 0.",
        "Paused before compose_prompt (oracle.yaml:21), before the first tick: it runs in the next tick.",
        "Paused after tick 1.",
        'hint = "Be brief."',
        f"Breaks before {LLM_TURN}.",
    ):
        assert said in out
    assert "llm_turn" in out[out.index("it runs in the next tick.") :]
    assert heard.done["termination_reason"] == "completed"
    assert "Be brief." in str(service.model.requests[0].messages)
    (left,) = (await service.client.get("/api/debug/breakpoints")).json()["breakpoints"]
    assert left["kind"] == "start"


async def test_the_latest_run_is_debugged_to_its_end(start: Any, debug: Any) -> None:
    service = await start(debug=True)
    await service.client.post("/api/debug/breakpoints", json=NODE)
    async with service.asking() as heard:
        await until(service, heard.run_id, "paused")
        code, out, _ = await debug(service, "--last", lines="c\nn\n")
        await heard.rest()
    assert code == 0
    assert "its work has not started." in out
    assert out.splitlines()[-1] == "The run has ended: completed."


WRONG = [
    ("b llm_trun", "the tree has no node 'llm_trun'; did you mean 'llm_turn'?"),
    ("b condition", "'condition' means "),
    ("b llm_turn if trun > 1", "did you mean 'turn'"),
    ("d llm_turn", f"this run has no breakpoint of its own on '{LLM_TURN}'"),
    ("p hnt", "there is no blackboard key 'hnt'; did you mean 'hint'?"),
    ("set turn 3", "'turn' shows the state of the run and cannot be changed"),
    ("set hint 3", "'hint' must be text, not 3"),
    ("force llm_turn maybe", "Input should be 'success' or 'failure'"),
]


async def test_a_wrong_command_in_a_pipe_ends_the_debugger_and_the_run_continues(start: Any, debug: Any) -> None:
    service = await start(debug=True)
    await service.client.post("/api/debug/breakpoints", json={"kind": "start", "user_id": "local"})
    for line, problem in WRONG:
        async with service.asking() as heard:
            await until(service, heard.run_id, "paused")
            code, out, err = await debug(service, heard.run_id, lines=f"h\n{line}\nq\n")
            assert (code, problem in err) == (1, True), err
            assert "force NODE success|failure" in out
            await heard.rest()
        assert heard.done["termination_reason"] == "completed"


async def test_who_cannot_debug_learns_why(start: Any, debug: Any) -> None:
    service = await start(debug=True, **AUTH)
    heard = await service.ask(headers=ALICE)
    tokens = {who: each["Authorization"].removeprefix("Bearer ") for who, each in (("alice", ALICE), ("olga", OLGA))}
    for arguments, who, problem in (
        ((heard.run_id,), "olga", "the run has ended; see it with: oracle runs show"),
        ((heard.run_id,), "alice", "Only operators may do this; ORACLE_OPERATORS names them."),
        (("--last",), "olga", "no run is in progress; ask a question, or name a run"),
        (("nothing",), "olga", "nothing"),
        ((heard.run_id,), "", "the service does not accept the token; set ORACLE_TOKEN"),
    ):
        code, _, err = await debug(service, *arguments, token=tokens.get(who, ""))
        assert (code, problem in err) == (1, True), err
    assert (await debug(service))[0] == 2
    off = await start(folder=service.parts.settings.data_dir / "off")
    code, _, err = await debug(off, (await off.ask()).run_id)
    assert (code, "ORACLE_DEBUG=1" in err) == (1, True)
    service.port = 9
    code, _, err = await debug(service, "some")
    assert (code, "the service at http://127.0.0.1:9" in err) == (1, True)
