"""The runs of the gallery are what their names say."""

import asyncio

import pytest

from tests.web import gallery_scripts as scripts
from tests.web.gallery import LONG_TICKS, Gallery

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.long("a browser, and a service with runs of every kind"),
]


@pytest.mark.parametrize(
    ("name", "reason", "turns", "notices"),
    [
        ("poll", "completed", 8, ["fallback", "limit_warning"]),
        ("thrifty", "stuck", 5, ["stuck"]),
        ("error", "completed", 3, []),
        ("limit", "max_iterations", 5, ["limit_warning", "limit_reached"]),
        ("no-progress", "no_progress", 3, ["no_progress"]),
        ("tool-errors", "error_limit", 3, ["error_limit"]),
        ("overloaded", "error", 1, []),
        ("cancelled", "user_cancelled", 2, []),
        ("modules", "stuck", 20, ["fallback", "limit_warning", "stuck"]),
        ("desk", "completed", 26, ["limit_warning"]),
        ("strict", "max_iterations", 4, ["limit_warning", "limit_reached"]),
        ("long", "completed", 0, []),
    ],
)
async def test_a_run_ends_as_it_is_meant_to(
    shown: Gallery, name: str, reason: str, turns: int, notices: list[str]
) -> None:
    heard = await shown.client.resumed(shown.runs[name])
    assert (heard.reason, heard.done["turns"]) == (reason, turns)
    assert [each["system_type"] for each in heard.of("system")] == notices


async def test_one_run_has_a_node_error_and_one_is_long_and_one_is_wide(shown: Gallery) -> None:
    runs = (await shown.client.http.get("/api/runs?limit=100")).json()["runs"]
    summary = {each["run_id"]: each["summary"] for each in runs}
    assert summary[shown.runs["error"]]["node_errors"] == 1
    assert summary[shown.runs["long"]]["ticks"] >= LONG_TICKS
    wide = (await shown.client.http.get(f"/api/runs/{shown.runs['desk']}/tree")).json()["tree"]
    assert 380 <= len(wide["nodes"]) <= 480


async def test_conversations_are_of_two_days_and_a_tree_is_broken(shown: Gallery) -> None:
    conversations = (await shown.client.http.get("/api/oracle/conversations?limit=100")).json()["conversations"]
    assert len({each["created_at"][:10] for each in conversations}) >= 2
    assert conversations[0]["title"] == scripts.POLL
    async with asyncio.timeout(20):
        while not (broken := [each["name"] for each in await listed(shown) if each["mistake_count"]]):
            pass
    assert broken == ["triage"]
    assert {each["origin"] for each in await listed(shown)} == {"shipped", "operator"}


async def listed(shown: Gallery):
    return (await shown.client.http.get("/api/trees")).json()["trees"]
