"""A rolling deploy with other Python, trees and prompts: runs end as they have begun, or say why they cannot."""

import asyncio
import random
import shutil
from pathlib import Path

import pytest

from benchmarks.service_client import call
from tests.durable.checks import check_doubles, check_told, known_answers
from tests.durable.clients import asked
from tests.durable.fleet import TREES, Fleet, Worker

pytestmark = pytest.mark.soak
_OLD = {"ORACLE_PLUGINS": "tests.durable.plugin,tests.durable.old_kinds", "ORACLE_DRAIN_S": "0"}
_SEGMENT = "---\nid: signals\ndescription: Other words.\npriority: 10\nalways: true\n---\n# Signals\n\nOther words.\n"


def _versions(folder: Path) -> tuple[Path, Path, Path]:
    """Trees of the old version, those of the new one, and the new prompts."""
    old, new, prompts = folder / "trees_old", folder / "trees_new", folder / "prompts_new"
    shutil.copytree(TREES, old)
    shutil.copytree(TREES, new)
    text = (old / "durable.yaml").read_text()
    with_kind = text.replace("tree: durable", "tree: kinded").replace("- warn_near_limits", "- stands_there")
    (old / "kinded.yaml").write_text(with_kind)
    (new / "durable.yaml").write_text(text.replace("- llm_turn", "- llm_turn: { hint: Say it in other words. }"))
    prompts.mkdir()
    (prompts / "signals.md").write_text(_SEGMENT)
    return old, new, prompts


async def test_runs_end_on_the_version_that_they_began_with(tmp_path: Path, database: str) -> None:
    dice = random.Random(66)
    asks = [("tools", "r1"), ("stuck", "r2"), ("parallel", "r3"), ("long", "r4")]
    old_trees, new_trees, prompts = _versions(tmp_path)
    async with Fleet.running(tmp_path, database, settings={**_OLD, "ORACLE_TREES_DIR": str(old_trees)}) as fleet:
        old = fleet.workers[0]
        await fleet.provider.pace(pieces=30, gap_s=0.001)
        known = await known_answers(fleet, asks, dice=dice)
        await fleet.provider.pace(pieces=30, gap_s=0.05)
        clients = [asked(fleet, kind, tag, dice) for kind, tag in asks]
        clients.append(asked(fleet, "tools", "r5", dice, tree="kinded"))
        reading = asyncio.gather(*(client.read() for client in clients))
        await asyncio.gather(*(client.grew.wait() for client in clients))
        new_settings = {"ORACLE_TREES_DIR": str(new_trees), "ORACLE_PROMPTS_DIR": str(prompts)}
        address = fleet.provider.address
        async with Worker(tmp_path, "new", address, database, settings=new_settings) as new:
            fleet.workers = [new]
            assert await old.stop() == 0
            *others, kinded = await reading
            for (_, tag), told in zip(asks, others, strict=True):
                await check_told(fleet, told, known[tag])
            seen = await check_doubles(fleet, known, asks)
            assert seen["unknown"] == []
            assert [chunk["error_type"] for chunk in kinded.of_type("error")] == ["not_continued"]
            status, _, row = await call(new.address, "GET", f"/api/oracle/runs/{kinded.run_id}")
            assert (status, row["termination_reason"]) == (200, "error")
