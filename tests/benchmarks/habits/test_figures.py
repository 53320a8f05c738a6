"""What the specifications ask for, of the scripted agents that obey the control's notes."""

import asyncio

import pytest

from benchmarks.habits.conversations import CONVERSATIONS
from benchmarks.habits.latency import TURN_S, latency_lines, per_turn_us
from benchmarks.habits.players import PLAYERS
from benchmarks.habits.playing import Played, play_all
from benchmarks.habits.report import figures, lines
from benchmarks.habits.summary import Summary, pairs_of, summary

TREE, LOOP, LEGACY = PLAYERS


@pytest.fixture(scope="module")
def shipped() -> Summary:
    """The shipped tree with all agents that have old habits."""
    old = [each for each in CONVERSATIONS if not each.is_good]
    return summary(pairs_of(asyncio.run(play_all(old, [1.0], players=[TREE, LEGACY])), "tree"))


@pytest.mark.long("plays all habits with both controls")
def test_012_sc_006_the_defaults_save_thirty_percent_of_the_unneeded_turns(shipped: Summary) -> None:
    assert shipped.fewer_turns is not None
    assert shipped.fewer_turns.value >= 0.30


@pytest.mark.long("plays all habits with both controls")
def test_020_sc_004_tasks_end_within_the_budget(shipped: Summary) -> None:
    assert shipped.within_budget.value >= 0.99


async def test_020_sc_007_the_tree_adds_less_than_ten_percent_to_a_turn() -> None:
    of = await per_turn_us(rounds=2)
    added_us = of["tree"][0] - of["loop"][0]
    assert added_us < TURN_S * 1e6 * 0.10


def test_the_report_of_the_latency_names_both_controls_and_the_aim(monkeypatch: pytest.MonkeyPatch) -> None:
    async def measured() -> dict[str, tuple[float, float]]:
        return {"tree": (3_000.0, 4_000.0), "loop": (2_000.0, 3_500.0)}

    monkeypatch.setattr("benchmarks.habits.latency.per_turn_us", measured)
    text = "\n".join(latency_lines())
    assert "added  CPU  +1000 µs   time   +500 µs   0.050 % of 2 s  (aim: under 1 %; 020 SC-007: 10 %)" in text
    assert "tool call included: 0.200 % of it" in text


@pytest.fixture(scope="module")
def few() -> list[Played]:
    """Two agents under all controls, of whom one loses its answer."""
    names = {"repeats_itself: fuel", "thorough: attempts"}
    return asyncio.run(play_all([each for each in CONVERSATIONS if each.name in names], [0.0, 0.5]))


def test_the_report_has_a_table_for_each_kind_of_agent_and_one_by_obedience(few: list[Played]) -> None:
    text = "\n".join(lines(few, worst=5))
    assert "1 agents with old habits, obedience 0.5" in text
    assert "1 good agents, obedience 0.5" in text
    assert "repeats_itself: fuel " in text.partition("where the tree loses or wastes most")[2]
    assert [line.split()[:2] for line in text.splitlines() if line.startswith(("  0 ", "  0.5 "))] == [
        [obedience, player.name] for obedience in ("0", "0.5") for player in PLAYERS
    ]


def test_the_figures_as_data_have_every_conversation_and_every_control(few: list[Played]) -> None:
    found = figures(few)
    assert len(found["conversations"]) == 2 * 2 * 3
    assert {(each["agents"], each["player"]) for each in found["summaries"]} == {
        (kind, player.name) for kind in ("old habits", "good") for player in PLAYERS
    }
    (legacy,) = (
        each
        for each in found["summaries"]
        if each["player"] == "legacy" and each["agents"] == "good" and each["obedience"] == 0.5
    )
    assert legacy["complete"]["value"] == 1.0
    assert legacy["lost"] == {"detection": 0, "limits": 0, "short": 0}
