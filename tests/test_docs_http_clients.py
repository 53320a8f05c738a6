"""docs/http-clients.md: the calls work."""

import re
from pathlib import Path

from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.server.api.conftest import quiet_logs, start  # noqa: F401  fixtures

PAGE = (Path(__file__).parents[1] / "docs" / "http-clients.md").read_text(encoding="utf-8")
CALLS = [
    line.removeprefix("GET ")
    for block in re.findall(r"```http\n(.*?)```", PAGE, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("GET ")
]


READING = ScriptedTurn(tool_calls=(ScriptedCall("vault_read", {"path": "login"}),))


async def test_every_documented_call_is_answered(start, tmp_path):  # noqa: F811
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "login.md").write_text("# Login\n", encoding="utf-8")
    service = await start([READING, ScriptedTurn(text="Here.")])
    streamed = await service.ask("What does the note about the login say?")
    names = {"RUN": streamed.run_id, "CONTEXT": streamed.done["context_id"]}
    assert CALLS
    for call in CALLS:
        response = await service.client.get(re.sub("RUN|CONTEXT", lambda found: names[found[0]], call))
        assert response.status_code == 200, call
        assert response.content
