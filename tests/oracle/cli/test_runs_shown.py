"""`oracle runs list`, `show` and `watch`, on a database that a service has written or is writing."""

import asyncio
import json
import signal
import subprocess
import sys

import pytest

import trees
from oracle.runs.storage.feedback import rate
from oracle.runs.storage.records import Feedback
from oracle.runs.storage.store import open_store
from tests.acceptance.harness import says
from tests.oracle.replay.test_replays import recorded
from tests.oracle.runs.running import managed

PATIENCE_S = 30
STOP_LINE = 1 + (trees.FOLDER / "fallback.yaml").read_text().splitlines().index("              - stop: stuck")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A data folder with three queries and one whose texts are gone, and their rows."""
    folder = tmp_path_factory.mktemp("made")

    async def ask():
        async with open_store(f"sqlite:///{folder}/oracle.db", worker="w") as store:
            runs = [await recorded(store, name) for name in ("an answer", "stuck twice", "a limit")]
            gone = await recorded(store, "an answer", question="A secret?")
            await store.conversations.forget(gone.user_id, gone.context_id)
            limit, down = runs[-1], Feedback("down")
            await store.write(lambda connection: rate(connection, limit.id, user_id=limit.user_id, feedback=down))
            return [*runs, gone]

    return folder, asyncio.run(ask())


def test_a_run_is_shown_at_the_tick_that_decided_its_end(oracle, data):
    folder, (_, stuck, *_) = data
    ran = oracle("runs", "show", stuck.id[:8], "--data-dir", folder)
    assert (ran.code, ran.err) == (0, "")
    assert "\x1b" not in ran.out
    lines = ran.out.splitlines()
    assert lines[0].endswith("▲ stuck")
    assert any(line.startswith("tick 4 of 5 · turn 2") for line in lines)
    (decision,) = [line for line in lines if line.startswith("▸")]
    assert "stop: stuck" in decision
    assert any("calls_since_strategy 0" in line and "→ no" in line for line in lines)


@pytest.mark.long("shows a run once for each option")
def test_each_option_shows_its_part(oracle, data):
    folder, (_, stuck, *_) = data

    def shown(*options):
        ran = oracle("runs", "show", stuck.id, "--data-dir", folder, *options)
        assert ran.code == 0, ran.err
        return ran.out

    assert "tick 1 of 5" in shown("--tick", 1)
    assert "tick 2 of 5" in shown("--turn", 1)
    assert shown("--decision") == shown()
    why, stop = shown("--why"), f"fallback.yaml:{STOP_LINE}"
    assert stop in why
    assert why.index("oracle.yaml:22") < why.index(stop)
    assert "read by tick 2" in shown("--answer", "--tick", 2)
    assert "Still" not in shown("--answer", "--tick", 2)
    assert "Still" in shown("--answer")
    assert "strategies" in shown("--board")
    whole = json.loads(shown("--json"))
    assert (whole["format"], len(whole["ticks"])) == ("oracle-run", 5)
    assert json.loads(shown("--json", "--tick", 4)) == whole["ticks"][3]


def test_a_tick_that_is_not_there_says_which_are(oracle, data):
    folder, (_, stuck, *_, gone) = data
    for options, words in (
        (("--tick", 99), "there is no tick 99; the run has the ticks 1 to 5"),
        (("--turn", 9), "there is no turn 9; the run has the turns 1 to 2"),
        (("--error",), "no node of the run raised an exception"),
    ):
        ran = oracle("runs", "show", stuck.id, "--data-dir", folder, *options)
        assert (ran.code, ran.out) == (1, "")
        assert words in ran.err
    ran = oracle("runs", "show", gone.id, "--data-dir", folder, "--tick", 1)
    assert "the run has no recorded ticks" in ran.err
    assert oracle("runs", "show", stuck.id, "--tick", 1, "--turn", 1).code == 2
    assert oracle("runs", "show", stuck.id, "--url", "http://h", "--data-dir", folder).code == 2


def test_a_run_that_is_gone_shows_what_is_left(oracle, data):
    folder, (*_, gone) = data
    ran = oracle("runs", "show", gone.id, "--data-dir", folder)
    assert ran.code == 0
    assert "its texts and ticks were deleted; only its summary is left" in ran.out
    assert "secret" not in ran.out


def test_unknown_and_unclear_runs_are_errors(oracle, data, tmp_path):
    folder, records = data
    for command in ("show", "watch"):
        assert "there is no run 'zzzz'" in oracle("runs", command, "zzzz", "--data-dir", folder).err
        nowhere = oracle("runs", command, "x", "--data-dir", tmp_path / "nowhere")
        assert nowhere.code == 1
        assert "there is no database" in nowhere.err
    shared = next((digit for digit in "0123456789abcdef" if sum(record.id[0] == digit for record in records) > 1), None)
    if shared:
        unclear = oracle("runs", "show", shared, "--data-dir", folder)
        assert "several runs have an id that begins with" in unclear.err


def test_runs_are_listed_and_filtered(oracle, data):
    folder, (answer, stuck, limit, gone) = data

    def ids(*options):
        ran = oracle("runs", "list", "--data-dir", folder, *options)
        assert ran.code == 0, ran.err
        return [line.split()[0] for line in ran.out.splitlines()]

    everything = [record.id[:8] for record in (gone, limit, stuck, answer)]
    assert ids() == everything
    assert ids("--limit", 1) == everything[:1]
    assert ids("--reason", "stuck") == [stuck.id[:8]]
    assert ids("--reason", "running") == []
    assert ids("--since", "2h") == everything
    assert ids("--since", "2999-01-01") == []
    assert ids("--text", "retrypolicy WHERE", "--tree", "oracle", "--user", "local") == everything[1:]
    assert ids("--version", (stuck.tree_sha or "")[:7], "--slow", "0") == everything
    assert (ids("--feedback", "down"), ids("--feedback", "up")) == ([limit.id[:8]], [])
    assert ids("--slow", "3600") == ids("--errors") == ids("--user", "nobody") == []
    listed = json.loads(oracle("runs", "list", "--data-dir", folder, "--json").out)["runs"]
    assert [each["run"]["id"] for each in listed] == [record.id for record in (gone, limit, stuck, answer)]


@pytest.mark.parametrize(
    ("words", "unwanted"),
    [
        (["list"], ["oracle.agent.nodes", "oracle.tools", "oracle.replay.exports", "bt_runtime.kinds"]),
        (
            ["show", "RUN"],
            [
                "oracle.agent",
                "oracle.classify",
                "oracle.runs.record",
                "bt_runtime.kinds",
                "bt_runtime.runtime",
                "sqlalchemy.dialects.postgresql",
            ],
        ),
    ],
    ids=["list", "show"],
)
@pytest.mark.long("starts a process")
def test_a_command_loads_only_what_it_needs(oracle, data, words, unwanted):
    folder, (_, stuck, *_) = data
    arguments = ["runs", *(stuck.id if word == "RUN" else word for word in words), "--data-dir", str(folder)]
    oracle(*arguments)  # which makes the history that is shown, and keeps it
    loaded = f"[name for name in {unwanted} if name in sys.modules]"
    code = f"import sys; from oracle.cli import main; print(main({arguments}), {loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"


def test_where_nothing_was_recorded_it_is_said_which_queries_are(oracle, tmp_path):
    folder = tmp_path / "empty"
    assert oracle("ask", "Thanks!").code == 0
    missing = oracle("runs", "list", "--data-dir", folder)
    assert (missing.code, "made by `oracle serve` (`oracle ask` records nothing)" in missing.err) == (1, True)

    async def make():
        async with open_store(f"sqlite:///{folder}/oracle.db", worker="w"):
            pass

    asyncio.run(make())
    none = oracle("runs", "list", "--data-dir", folder)
    assert (none.code, none.err) == (
        0,
        "No runs. Runs of `oracle serve` are recorded, those of `oracle ask` are not.\n",
    )
    assert "The run is not recorded; those of `oracle serve` are." in " ".join(oracle("ask", "--help").out.split())


def test_an_empty_list_says_so_and_a_wrong_filter_what_is_right(oracle, data):
    folder, _ = data
    none = oracle("runs", "list", "--data-dir", folder, "--user", "nobody")
    assert (none.code, none.out, none.err) == (0, "", "No runs.\n")
    wrong = oracle("runs", "list", "--since", "yesterday")
    assert wrong.code == 2
    assert "give a duration (30min, 2h, 7d) or a date (2026-11-01)" in wrong.err
    assert "stuck" in oracle("runs", "list", "--reason", "nothing").err


def test_a_run_that_has_ended_is_watched_at_once(oracle, data):
    folder, (_, stuck, *_) = data
    ran = oracle("runs", "watch", stuck.id, "--data-dir", folder)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert [line.split()[:2] for line in lines[:5]] == [["tick", str(n)] for n in range(1, 6)]
    assert "run stops as stuck" in lines[3]
    assert lines[5].endswith("▲ stuck")


async def read_until(stream: asyncio.StreamReader, words: str) -> str:
    text = ""
    async with asyncio.timeout(PATIENCE_S):
        while words not in text:
            piece = await stream.read(4096)
            assert piece, text
            text += piece.decode()
    return text


@pytest.mark.long("starts a process")
async def test_a_run_under_way_is_watched_tick_by_tick_until_it_ends(start, tmp_path):
    async with (
        open_store(f"sqlite:///{tmp_path}/oracle.db", worker="w") as store,
        managed(store, [says("Half of the answer", hang=True)]) as it,
    ):
        live = await it.start()
        await it.until_text(live.record, "Half")
        watching = await start("runs", "watch", live.record.id, "--data-dir", tmp_path)
        await read_until(watching.stdout, "tick 1")
        live.cancel()
        await it.told(live.record)
        rest = await read_until(watching.stdout, "cancelled\n")
        assert "tick 2" in rest
        assert await watching.wait() == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.long("starts a process")
async def test_watching_is_interrupted_and_the_run_goes_on(start, tmp_path, number, code):
    async with (
        open_store(f"sqlite:///{tmp_path}/oracle.db", worker="w") as store,
        managed(store, [says("Half of the answer", hang=True)]) as it,
    ):
        live = await it.start()
        await it.until_text(live.record, "Half")
        watching = await start("runs", "watch", live.record.id, "--data-dir", tmp_path)
        await read_until(watching.stdout, "tick 1")
        watching.send_signal(number)
        assert await watching.wait() == code
        assert (await watching.stderr.read()).decode() == ""
        assert (await store.runs.find(live.record.id)).status == "running"
        live.cancel()
        await it.told(live.record)


def test_failed_attempts_are_named_and_count_for_no_limit(oracle, database):
    (run_id,) = database.record("the provider fails")
    ran = oracle("runs", "show", run_id)
    assert ran.code == 0, ran.err
    assert " · 0 turns, 1 failed attempt · " in ran.out
    assert "turns 0/" in ran.out
