import json
import os
import socket
import stat
from pathlib import Path

import pytest

from oracle.agent.answering import Ask
from oracle.runs.storage import schema
from oracle.server.settings.fields import Settings
from oracle.server.wiring.service import open_service, worker_name
from tests.oracle.features.webhooks.test_sending import receiving
from tests.support.waiting import until


def test_a_workers_name_fits_whatever_the_machine_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "h" * 64)
    monkeypatch.setattr(os, "getpid", lambda: 4_194_304)  # the greatest on Linux
    assert len(worker_name()) <= schema.run.c.worker.type.length


@pytest.mark.parametrize("is_on", [False, True])
async def test_runs_have_a_debugger_where_the_operator_has_turned_it_on(tmp_path: Path, is_on: bool) -> None:
    chosen = {"debug": True} if is_on else {}
    settings = Settings(data_dir=tmp_path / "data", project_dir=tmp_path, llm="offline", **chosen)
    async with open_service(settings) as parts:
        assert (parts.runs.debugger is not None) is is_on


async def test_all_that_the_service_makes_in_its_data_folder_is_its_users_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with open_service(Settings(data_dir=data, project_dir=tmp_path, llm="offline")):
        made = {path: stat.S_IMODE(path.stat().st_mode) for path in (data, *data.rglob("*"))}
    assert made[data / "trees"] == 0o700
    assert {path.name: oct(mode) for path, mode in made.items() if mode & 0o077} == {}


async def test_the_end_of_a_query_is_told_to_the_addresses_of_the_settings(tmp_path: Path) -> None:
    async with receiving() as receiver:
        settings = Settings(
            data_dir=tmp_path / "data",
            project_dir=tmp_path,
            llm="offline",
            webhook_urls=(f"http://127.0.0.1:{receiver.port}/",),
            webhook_private_hosts=("127.0.0.1",),
            webhook_secret=f"whsec_{'a' * 32}",
        )
        async with open_service(settings) as parts:
            live = await parts.runs.start(Ask("Thanks!"))
            await until(lambda: bool(receiver.requests))
    [(_, body)] = receiver.requests
    told = json.loads(body)["data"]
    assert (told["run_id"], told["termination_reason"]) == (live.record.id, "completed")
