"""What the product itself guarantees can be refuted: with a piece of it broken, each property is."""

import pytest

from bt_runtime import Standing
from oracle.agent.closing import Closer
from oracle.agent.control.floor import TreeFloor
from oracle.agent.output import Output
from oracle.core.chunks import Content
from tests.oracle.features.verifier.verified import tree_of, verified

UNGUARDED = """
tree: sample
root:
  sequence:
    - classify_query
    - compose_prompt
    - loop: { child: { sequence: [llm_turn, grant_turn] } }
"""


def verdict(name, tree=UNGUARDED):
    return verified(tree_of(tree), turns=1, states=40).result(name).verdict


def test_a_floor_that_holds_nothing_back_breaks_the_turn_limit(monkeypatch):
    assert verdict("turn-limit") == "proven"
    monkeypatch.setattr(TreeFloor, "judge", lambda self, standing: standing.posted)
    assert verdict("turn-limit") == "refuted"


def test_a_floor_that_lets_work_begin_after_a_cancel_breaks_its_precedence(monkeypatch):
    assert verdict("cancel-wins") == "proven"
    plain = TreeFloor.judge

    def deaf(self: TreeFloor, standing: Standing):
        return standing.posted if self._board["cancel_requested"] else plain(self, standing)

    monkeypatch.setattr(TreeFloor, "judge", deaf)
    assert verdict("cancel-wins") == "refuted"


def test_a_closing_that_saves_nothing_is_noticed(monkeypatch):
    assert verdict("saved") == "proven"

    async def save_nothing(self, run, *, asked_at):
        return None

    monkeypatch.setattr(Closer, "_save", save_nothing)
    assert verdict("saved") == "refuted"


@pytest.mark.parametrize("extra", ["done", "text"])
def test_a_chunk_behind_the_last_one_is_noticed(monkeypatch, extra):
    assert verdict("one-done") == "proven"
    plain = Output.finish

    def go_on(self, done):
        plain(self, done)
        self.emit(done if extra == "done" else Content("more"))

    monkeypatch.setattr(Output, "finish", go_on)
    assert verdict("one-done") == "refuted"
