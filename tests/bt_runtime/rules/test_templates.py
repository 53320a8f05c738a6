"""The automata against the definitions of the templates, read literally over whole traces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bt_runtime.language.rule import COUNTED, TEMPLATES
from bt_runtime.rules.monitors import BOTH, FIRST, THEN, automaton_of

A = {FIRST, BOTH}
B = {THEN, BOTH}
LETTERS = st.lists(st.integers(0, 3), max_size=12)


def positions(trace, letters):
    return [index for index, letter in enumerate(trace) if letter in letters]


def follows(trace):
    """Each first event has a second one after it."""
    return all(any(b > a for b in positions(trace, B)) for a in positions(trace, A))


def preceded(trace):
    return all(any(a < b for a in positions(trace, A)) for b in positions(trace, B))


def alternately_follows(trace):
    """After each first event a second one comes before the next first one, or together with it."""
    firsts, seconds = positions(trace, A), positions(trace, B)
    return all(any(b > a and not any(a < other < b for other in firsts) for b in seconds) for a in firsts)


def alternately_preceded(trace):
    """Before each second event, and after the previous one, there is a first event."""
    firsts, seconds = positions(trace, A), positions(trace, B)
    return all(any(a < b and not any(a <= other < b for other in seconds) for a in firsts) for b in seconds)


def directly_follows(trace):
    return all(a + 1 < len(trace) and trace[a + 1] in B for a in positions(trace, A))


def directly_preceded(trace):
    return all(b > 0 and trace[b - 1] in A for b in positions(trace, B))


MEANING = {
    "absence": lambda trace, _n: not positions(trace, A),
    "existence": lambda trace, n: len(positions(trace, A)) >= n,
    "exactly": lambda trace, n: len(positions(trace, A)) == n,
    "at_most": lambda trace, n: len(positions(trace, A)) <= n,
    "init": lambda trace, _n: not trace or trace[0] in A,
    "last": lambda trace, _n: not trace or trace[-1] in A,
    "responded_existence": lambda trace, _n: not positions(trace, A) or bool(positions(trace, B)),
    "co_existence": lambda trace, _n: bool(positions(trace, A)) == bool(positions(trace, B)),
    "not_co_existence": lambda trace, _n: not (positions(trace, A) and positions(trace, B)),
    "choice": lambda trace, _n: bool(positions(trace, A) or positions(trace, B)),
    "exclusive_choice": lambda trace, _n: bool(positions(trace, A)) != bool(positions(trace, B)),
    "response": lambda trace, _n: follows(trace),
    "precedence": lambda trace, _n: preceded(trace),
    "succession": lambda trace, _n: follows(trace) and preceded(trace),
    "alternate_response": lambda trace, _n: alternately_follows(trace),
    "alternate_precedence": lambda trace, _n: alternately_preceded(trace),
    "alternate_succession": lambda trace, _n: alternately_follows(trace) and alternately_preceded(trace),
    "chain_response": lambda trace, _n: directly_follows(trace),
    "chain_precedence": lambda trace, _n: directly_preceded(trace),
    "chain_succession": lambda trace, _n: directly_follows(trace) and directly_preceded(trace),
    "not_succession": lambda trace, _n: not any(a < b for a in positions(trace, A) for b in positions(trace, B)),
    "not_chain_succession": lambda trace, _n: not any(a + 1 in positions(trace, B) for a in positions(trace, A)),
}  # fmt: skip


def end_of(automaton, trace):
    state = 0
    for letter in trace:
        state = automaton.rows[state][letter]
    return state


def letters_of(template, trace):
    """The trace as this template can meet it: one about a single event has no second one."""
    return [letter & FIRST for letter in trace] if template in {*COUNTED, "absence", "init", "last"} else trace


def test_every_template_has_a_meaning():
    assert set(MEANING) == set(TEMPLATES)


@pytest.mark.parametrize("template", TEMPLATES)
@given(trace=LETTERS, times=st.integers(1, 4))
def test_the_automaton_accepts_the_traces_on_which_the_template_holds(template, trace, times):
    automaton, trace = automaton_of(template, times), letters_of(template, trace)

    assert (end_of(automaton, trace) in automaton.accepting) == MEANING[template](trace, times)


@pytest.mark.parametrize("template", TEMPLATES)
@given(trace=LETTERS, more=LETTERS, times=st.integers(1, 4))
def test_nothing_that_follows_a_violation_repairs_it(template, trace, more, times):
    automaton = automaton_of(template, times)
    trace, more = letters_of(template, trace), letters_of(template, more)

    if end_of(automaton, trace) in automaton.violated:
        assert not MEANING[template]([*trace, *more], times)


@pytest.mark.parametrize("template", TEMPLATES)
@given(trace=LETTERS)
def test_what_is_not_violated_can_still_hold(template, trace):
    """A verdict of `violated` is not late: as long as it is not given, some continuation makes the rule hold."""
    automaton, trace = automaton_of(template, 2), letters_of(template, trace)
    state, seen = end_of(automaton, trace), set()
    reachable = {state}
    while reachable - seen:
        seen, reachable = reachable, reachable | {row for each in reachable for row in automaton.rows[each]}

    assert (state in automaton.violated) == (not reachable & automaton.accepting)
