"""The demo: its recorded runs can be listed, shown and replayed on this version, and nothing of it is left behind."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from oracle.cli import main
from oracle.features.demo.loading import RECORDED, fill
from tests.oracle.features.demo import story

PATIENCE_S = 60
ENDS = {
    story.LONG_CONVERSATION[-1][1]: "completed",
    story.LIMIT: "max_iterations",
    story.LOOP: "no_progress",
    story.FALLBACK: "completed",
    story.CRASH: "completed",
    story.APPROVAL: "completed",
    story.QUESTION: "completed",
    story.SECOND: "completed",
    story.NORMAL: "completed",
    story.SHADOWED: "completed",
}

pytestmark = pytest.mark.long("starts the demo, or replays its runs")


@contextmanager
def started(tmp_path, **environment):
    """The demo, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "oracle", "demo", "--no-open"],
        env=os.environ | {"TMPDIR": str(tmp_path), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # noqa: PLW1509  tests may run under nohup
    )
    try:
        yield process, process.stdout.readline().split()[-1]
    finally:
        process.kill()
        process.communicate()


def get(url, body=None):
    request = Request(url, data=body and json.dumps(body).encode(), headers={"Content-Type": "application/json"})
    with build_opener(ProxyHandler({})).open(request, timeout=PATIENCE_S) as response:
        return json.load(response)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=str)
def test_the_demo_shows_ten_runs_answers_offline_and_leaves_nothing(how, tmp_path):
    with started(tmp_path, ORACLE_LLM="anthropic", ORACLE_MODLE="x", ANTHROPIC_API_KEY="k") as (process, url):
        listed = get(f"{url}/api/runs?limit=50")["runs"]
        assert {run["question"]: run["termination_reason"] for run in listed} == ENDS
        for run in listed:
            assert get(f"{url}/api/runs/{run['run_id']}/history")
        answered = get(f"{url}/api/oracle", {"question": story.NORMAL})
        assert "lantern/loans.py" in {source["path"] for source in answered["sources"]}
        assert get(f"{url}/api/shadow/report")["pairs"] == 1
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(how)
        assert process.wait(PATIENCE_S) == 0, process.stderr.read()
    assert list(tmp_path.iterdir()) == []


def test_every_recorded_run_does_the_same_when_it_is_played_again(tmp_path, monkeypatch, capsys):
    fill(tmp_path, f"sqlite:///{tmp_path}/data/oracle.db")
    monkeypatch.setenv("ORACLE_DATA_DIR", str(tmp_path / "data"))
    assert main(["runs", "list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["runs"]
    assert len(found) >= len(ENDS)
    for run in found:
        assert main(["runs", "replay", run["run"]["id"]]) == 0, capsys.readouterr().out
        assert "identical" in capsys.readouterr().out


def test_the_recorded_runs_are_small():
    assert RECORDED.stat().st_size < 400_000
