"""`oracle runs replay`, on both kinds of databases."""

import asyncio
import json
import re

import pytest
from sqlalchemy import select, update

import trees
from oracle.runs.storage import schema
from oracle.runs.storage.store import open_store
from tests.support.databases import on_both_databases


@pytest.fixture
def stuck(database):
    """The id of a recorded run."""
    return database.record("stuck twice")[0]


@pytest.fixture
def changed(tmp_path):
    """A copy of a shipped tree file, with another text in it."""

    def write(name, old, new):
        text = (trees.FOLDER / name).read_text()
        assert old in text
        (tmp_path / "my").mkdir(exist_ok=True)
        (tmp_path / "my" / name).write_text(text.replace(old, new))
        return tmp_path / "my" / name

    return write


@on_both_databases
def test_a_run_replays_to_itself(oracle, stuck):
    ran = oracle("runs", "replay", stuck[:8])
    assert ran.code == 0
    assert re.fullmatch(
        rf"{stuck[:8]}  on its own tree oracle@[0-9a-f]{{7}}: identical, 5 ticks in [\d,]+ ms\n", ran.out
    )
    data = json.loads(oracle("runs", "replay", stuck, "--json").out)
    assert data.pop("took_ms") >= 0
    assert data == {"run_id": stuck, "tree": "oracle", "ticks": 5, "is_same": True, "tick": None}


def test_another_tree_that_does_the_same_is_the_same(oracle, stuck):
    ran = oracle("runs", "replay", stuck, "--tree", "oracle")
    assert ran.code == 0
    assert re.search(r"oracle\.yaml: the same, 5 ticks in [\d,]+ ms, ends as stuck\n$", ran.out)


def test_the_first_node_that_differs_is_named_with_what_it_saw_in_both(oracle, stuck, changed):
    file = changed("fallback.yaml", "condition: turn_left", "condition: turn < 0")
    ran = oracle("runs", "replay", stuck, "--tree", file)
    assert ran.code == 1
    assert re.sub(r":\d+  ", ":N  ", ran.out).split("\n")[:-1] == [
        f"{stuck[:8]}  on oracle.yaml: the same until tick 1, then different",
        "tick 2  …/selector/other_strategy/condition#2",
        "  old  fallback.yaml:N  - condition: turn_left",
        "       turn_left true → yes",
        "       The agent is stuck. Trying another approach.",
        "  new  fallback.yaml:N  - condition: turn < 0",
        "       turn 1 → no",
        "       The agent cannot get further with the tools it has.",
        "ends as stuck all the same",
    ]
    data = json.loads(oracle("runs", "replay", stuck, "--tree", file, "--json").out)
    assert (data["verdict"], data["difference"]["tick"], data["new_end"]) == ("differs", 2, "stuck")
    assert data["nodes"]["new"]["saw"] == "turn 1 → no"
    assert data["nodes"]["old"]["status"] == "SUCCESS"


def test_from_the_first_request_that_was_never_made_nothing_is_known(oracle, stuck, changed):
    file = changed("fallback.yaml", "- stop: stuck", "- grant_turn")
    ran = oracle("runs", "replay", stuck, "--tree", file)
    assert ran.code == 1
    assert ran.out.splitlines()[-1].startswith("ended as stuck; from here on nothing is known: ")


def test_a_tree_with_mistakes_or_without_a_file_is_an_error(oracle, stuck, tmp_path):
    (tmp_path / "fallback.yaml").write_text("tree: fallback\nroot: {nothing: {}}\n")
    ran = oracle("runs", "replay", stuck, "--tree", "fallback.yaml")
    assert (ran.code, ran.out) == (1, "")
    assert "fallback.yaml:2:" in ran.err
    for tree, message in (("nothing", "no tree 'nothing'"), ("no/file.yaml", "file.yaml"), (f"{tmp_path}/", "folder")):
        ran = oracle("runs", "replay", stuck, "--tree", tree)
        assert (ran.code, ran.out) == (1, "")
        assert message in ran.err


def test_what_cannot_be_replayed_says_why(oracle, stuck, tmp_path, monkeypatch):
    assert oracle("runs", "replay", "nothing").err == "Error: there is no run 'nothing'\n"
    oracle("runs", "export", stuck, "-o", "run.json")
    (tmp_path / "run.json").write_text((tmp_path / "run.json").read_text().replace(stuck, "e" * 32))
    oracle("runs", "import", "run.json")
    ran = oracle("runs", "replay", "eeee")
    assert ran.err == "Error: it was imported, and an export has no log; replay it in its own installation\n"


@on_both_databases
def test_a_run_whose_texts_were_deleted_cannot_be_replayed(oracle, database, capfd):
    (run,) = database.record("an answer")

    async def forget():
        async with open_store(database.url, worker="w") as store:
            record = await store.runs.find(run)
            await store.conversations.forget(record.user_id, record.context_id)

    asyncio.run(forget())
    capfd.readouterr()
    for command in ("replay", "scenario"):
        ran = oracle("runs", command, run)
        assert (ran.code, ran.out, ran.err) == (
            1,
            "",
            "Error: its texts and ticks were deleted; only its summary is left\n",
        )


@on_both_databases
def test_a_scenario_is_made_from_both_kinds_of_databases(oracle, stuck, tmp_path):
    ran = oracle("runs", "scenario", stuck, "-o", "recorded.yaml")
    assert (ran.code, ran.out, ran.err) == (0, "recorded.yaml: written\n", "")
    assert oracle("trees", "test", "recorded.yaml").out.splitlines()[-1] == "1 scenario: 1 passed"
    assert "reason: stuck" in (tmp_path / "recorded.yaml").read_text()


def park(url, run_id, change=lambda data: data):
    """Make a run one that waits for people; `change` its first tick."""

    def work(connection):
        run, event = schema.run, schema.event
        connection.execute(update(run).where(run.c.id == run_id).values(status="parked", finished_at=None))
        ticks = (event.c.run_id == run_id) & (event.c.kind == "tick")
        seq, data = connection.execute(select(event.c.seq, event.c.data).where(ticks).order_by(event.c.seq)).first()
        connection.execute(update(event).where(ticks & (event.c.seq == seq)).values(data=change(data)))

    async def write():
        async with open_store(url, worker="w") as store:
            await store.write(work)

    asyncio.run(write())


@on_both_databases
def test_runs_that_wait_for_people_are_played_on_this_version_before_it_is_deployed(oracle, database):
    first, other, damaged, _ended = database.record("stuck twice", "an answer", "an answer", "an answer")
    park(database.url, first)
    ran = oracle("runs", "verify", "--parked")
    assert (ran.code, ran.out) == (0, "1 of 1 parked runs can continue on this version\n")
    park(database.url, other, lambda data: data.replace(b'"code"', b'"research"', 1))
    park(database.url, damaged, lambda data: data.replace(b'"at_s":', b'"at":', 1))
    ran = oracle("runs", "verify", "--parked")
    assert ran.code == 1
    *reasons, last = ran.out.splitlines()
    assert last == "1 of 3 parked runs can continue on this version"
    by_run = {line[:8]: line for line in reasons}
    assert by_run.keys() == {other[:8], damaged[:8]}
    assert "the run differs from its record at tick 1" in by_run[other[:8]]
    assert "research" in by_run[other[:8]]
    assert "and now it is" in by_run[other[:8]]
    assert "UnreplayableError: its log is damaged" in by_run[damaged[:8]]
    assert oracle("runs", "verify").out == ran.out
    ran = oracle("runs", "replay", other)
    assert ran.code == 1
    assert "at tick 1" in ran.out
