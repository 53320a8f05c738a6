"""What the reductions leave out cannot be told apart: each step is compared with the same step without them."""

from itertools import product

import pytest

from oracle.features.verifier.events import PLAIN, SHARES, Replied, Reply
from oracle.features.verifier.exploring import Bounds
from oracle.features.verifier.identity import Identity
from oracle.features.verifier.reads import reads_of, speaks
from oracle.features.verifier.verify import Scope, exploration_of
from tests.oracle.features.verifier.comparing import Comparison, observed, sample, spared
from tests.oracle.features.verifier.exact import EveryForm, Exact
from tests.oracle.features.verifier.verified import guarded, shipped

TREES = {
    "signals": guarded("""
sequence:
  - llm_turn
  - selector:
      - sequence: [{ condition: "signal == 'need_turn' and same_reason < 2" }, grant_turn]
      - sequence: [{ condition: "confidence < 0.5" }, { stop: stuck }]
      - stop: completed
"""),
    "tools": guarded("""
sequence:
  - llm_turn
  - selector:
      - sequence: [{ condition: tool_calls > 0 }, run_tools]
      - sequence: [{ condition: "turns_without_signal >= 2 and nothing_found" }, { stop: stuck }]
      - sequence: [{ condition: "signal != 'context_sufficient'" }, grant_turn]
      - stop: completed
"""),
    "memory": guarded(
        """
sequence:
  - llm_turn
  - set: { before: signal, count: count + 1, cut: cut or cut_off }
  - selector:
      - sequence: [{ condition: "before == 'stuck' and count > 1" }, { stop: stuck }]
      - sequence: [{ condition: tool_calls > 0 }, run_tools]
      - sequence: [{ condition: "count < 3 and not cut" }, grant_turn]
      - stop: completed
""",
        more="  before: { type: str, default: '' }\n  count: { type: int, default: 0 }\n"
        "  cut: { type: bool, default: false }",
    ),
    "later": guarded("""
sequence:
  - llm_turn
  - force_success: { sequence: [{ condition: tool_calls > 0 }, run_tools] }
  - selector:
      - sequence: [{ condition: turn < 2 }, grant_turn]
      - sequence: [{ condition: "'search_code' in tools_tried" }, { stop: completed }]
      - stop: stuck
"""),
    "people": guarded("""
sequence:
  - llm_turn
  - selector:
      - sequence: [{ condition: tool_calls > 0 }, { run_tools: { approve: [vault_write, search_code] } }]
      - sequence: [{ ask_user: { question: Done?, options: ["yes", "no"], into: hint } }, { stop: completed }]
      - approve: { message: Stuck?, child: { stop: stuck } }
      - stop: no_progress
"""),
    "intent": guarded("""
sequence:
  - llm_turn
  - classify_response
  - selector:
      - sequence: [{ condition: "intent == 'stuck'" }, { stop: stuck }]
      - sequence: [{ condition: "intent == signal and turn_left" }, grant_turn]
      - stop: completed
"""),
    "kinds": guarded(
        """
sequence:
  - timeout: { seconds: 20, child: llm_turn }
  - selector:
      - once: { child: { sequence: [{ condition: tool_calls > 0 }, run_tools] } }
      - retry: { attempts: 2, child: { action: { call: vault_list, into: listed } } }
      - stop: stuck
  - if: { when: "listed == 'x'", then: { stop: completed }, else: grant_turn }
""",
        more="  listed: { type: str, default: '' }",
    ),
    "par": guarded(
        """
sequence:
  - parallel: { success: all, children: [llm_turn, { action: { call: vault_list, into: listed } }] }
  - selector:
      - sequence: [{ condition: tool_calls > 0 }, run_tools]
      - stop: completed
""",
        more="  listed: { type: str, default: '' }",
    ),
    "wait": guarded("""
sequence:
  - llm_turn
  - wait: { seconds: 5 }
  - selector:
      - sequence: [{ condition: empty_turns > 1 or turns_without_signal > 1 }, { stop: stuck }]
      - sequence: [{ condition: said_nothing }, grant_turn]
      - stop: completed
"""),
}


WRITTEN = """
sequence:
  - llm_turn
  - selector:
      - sequence: [{ condition: "signal == 'need_turn' and turn < 2" }, { set: { last: signal } }, grant_turn]
      - sequence: [{ set: { last: "'done'" } }, { stop: completed }]
"""


EACH_FORM = [
    Reply(PLAIN, signal="need_turn", tokens=tokens, same_reason=same) for tokens in SHARES for same in (False, True)
]


class Blind(Identity):
    """Leaves out too much: what the product's own nodes read of the query."""

    def _agent(self, kinds):
        return None


QUICK = ("signals", "wait")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=[] if name in QUICK else pytest.mark.long("explores a large tree twice"))
        for name in TREES
    ],
)
def compared(request):
    return Comparison(TREES[request.param], turns=2, states=60)


def test_every_form_of_an_event_that_is_left_out_does_what_another_one_does(compared):
    looked_at = sample(compared.states, 6)
    assert looked_at
    for place in looked_at:
        missing = observed(compared.full, place).keys() - observed(compared.reduced, place).keys()
        assert not missing, (place.way, missing)


def test_two_states_that_are_taken_for_one_do_the_same(compared):
    looked_at = sample(compared.merged, 12)
    assert looked_at
    for first, other in looked_at:
        assert observed(compared.full, first).keys() == observed(compared.full, other).keys(), (first.way, other.way)


@pytest.mark.long("explores a large tree twice")
@pytest.mark.parametrize(("most", "pairs"), [(60, 4), pytest.param(400, 20, marks=pytest.mark.soak)])
def test_a_state_that_is_not_expanded_does_what_another_one_has_shown(most, pairs):
    compared = Comparison(shipped(), turns=2, states=most)
    found = spared(compared)
    assert len(found) >= pairs
    for first, other in sample(found, pairs):
        assert observed(compared.full, first).keys() == observed(compared.full, other).keys(), (first.way, other.way)


@pytest.mark.long("plays each form of the responses in each state")
def test_replies_that_are_one_response_in_a_state_are_written_alike_and_do_the_same():
    compared = Comparison(TREES["signals"], turns=2, states=60)
    world, seen = compared.full.world, set()
    for place in compared.states:
        world.restore(place.saved)
        alike = compared.reduced.options.alike(world)
        for reply, request in product(EACH_FORM, [each.key for each in world.under_way if speaks(each.node)]):
            event = Replied(request, reply)
            plainest = alike.plainest(event)
            world.restore(place.saved)
            assert world.scripted(plainest.reply) == world.scripted(reply)
            assert did(compared.full, place, plainest) == did(compared.full, place, event)
            seen.add((reply.tokens, reply.same_reason, plainest == event))
    assert {("high", False, True), ("high", False, False), ("low", True, True), ("low", True, False)} <= seen


def did(exploration, place, event):
    exploration.world.restore(place.saved)
    exploration.world.play(event)
    return exploration.world.path[:], exploration.identity.of(exploration.extra())


@pytest.mark.long("explores a tree for three turns")
def test_no_state_is_spared_where_the_tree_reads_how_many_tokens_are_used():
    tree = guarded("sequence: [llm_turn, { selector: [{ condition: tokens_used < 100 }, { stop: completed }] }]")
    assert spared(Comparison(tree, turns=3, states=60)) == []


@pytest.mark.long("explores a tree twice")
def test_a_rule_about_a_value_that_is_written_is_told_apart_by_the_value_before():
    """Writing the value that a key has is no event; so a key that is written counts as one that is read."""
    compared = Comparison(guarded(WRITTEN, more="  last: { type: str, default: '' }"), turns=3, states=100)
    for first, other in spared(compared):
        assert observed(compared.full, first).keys() == observed(compared.full, other).keys(), (first.way, other.way)


@pytest.mark.long("explores a large tree twice")
@pytest.mark.parametrize("compares", [8, pytest.param(50, marks=pytest.mark.soak)])
def test_the_reductions_of_the_shipped_tree_cannot_be_told_apart(compares):
    compared = Comparison(shipped(), turns=3, states=200)
    assert len(compared.merged) > 500
    for place in sample(compared.states, compares):
        assert observed(compared.full, place).keys() == observed(compared.reduced, place).keys(), place.way
    for first, other in sample(compared.merged, compares):
        assert observed(compared.full, first).keys() == observed(compared.full, other).keys(), (first.way, other.way)


def test_an_identity_that_leaves_out_too_much_is_noticed():
    compared = Comparison(TREES["memory"], turns=2, states=30, identity=Blind)
    pairs = sample(compared.merged, 40)
    assert any(observed(compared.full, first).keys() != observed(compared.full, other).keys() for first, other in pairs)


DOUBTFUL_AT_ONCE = """
sequence:
  - llm_turn
  - selector:
      - sequence: [{ condition: "turn_left or signal == 'stuck'" }, { stop: completed }]
      - stop: stuck
"""


def test_what_matters_only_where_the_tokens_are_used_up_is_tried_there():
    compared = Comparison(guarded(DOUBTFUL_AT_ONCE), turns=3, states=20)
    place = compared.states[0]
    assert observed(compared.full, place).keys() == observed(compared.reduced, place).keys()


@pytest.mark.long("explores a tree without the reductions")
def test_an_exploration_without_the_reductions_comes_to_the_same_verdicts():
    tree = guarded(DOUBTFUL_AT_ONCE)
    exploration = exploration_of(tree, Scope(turns=1, bounds=Bounds(states=3_000)), options=EveryForm)
    exploration.identity = Exact(exploration.world, reads_of(tree))
    exact, reduced = exploration.run(), exploration_of(tree, Scope(turns=1)).run()
    assert not exact.stopped
    assert (exact.found.keys(), exact.visited) == (reduced.found.keys(), reduced.visited)
    assert exact.transitions > reduced.transitions


def test_a_call_that_can_be_made_again_is_told_apart_from_one_that_cannot():
    exploration = exploration_of(shipped(), Scope(turns=3))
    world, found = exploration.world, set()
    begin, *_ = exploration.begins
    for calls in (("read",), ("read_fresh",)):
        world.begin_again()
        world.play(begin)
        (request,) = world.under_way
        world.play(Replied(request.key, Reply(PLAIN, calls=calls)))
        found.add(exploration.identity.of())
    assert len(found) == 2
