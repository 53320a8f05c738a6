"""`examples/approvals.py` as a user starts it: what a run asks is shown and decided in the terminal."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.acceptance.scripts import CAREFUL, answers, calls, says
from tests.service.provider import Desk
from tests.service.server import Client, Server

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.long("a service of its own process, and the example as another one"),
]

EXAMPLE = Path(__file__).parents[2] / "examples" / "approvals.py"


async def test_the_example_answers_a_question_and_decides_a_call(
    client: Client, local_server: Server, desk: Desk
) -> None:
    saved = await client.http.put("/api/trees/careful", json={"source": CAREFUL, "version": None})
    assert saved.is_success, saved.text
    note = {"path": "limits.md", "body": "Five.\x1b[31m"}
    desk.play(says("I write it.", calls("vault_write", **note)), answers("Then not."))
    words = (sys.executable, str(EXAMPLE), "careful", "Write the limit to a note.", local_server.url)
    process = await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, problems = await process.communicate(b"trunk\nrelease\nedit [\nno Not there.\n")
    shown = out.decode()
    assert process.returncode == 0, shown + problems.decode()
    assert "? Which branch is meant?" in shown
    assert "one of ['main', 'release']" in shown
    assert "[answered by local]" in shown
    assert '? May vault_write be run?\n  vault_write {"path": "limits.md"' in shown
    assert "[refused by local]" in shown
    assert "Then not." in shown
    assert "\x1b" not in shown
    assert "They said: Not there." in str(desk.provider.bodies[-1])
