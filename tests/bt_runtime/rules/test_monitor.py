import pytest
from hypothesis import given
from hypothesis import strategies as st

from bt_runtime import Event, EventPattern, Monitor, Monitors, Rule
from bt_runtime.language.rule import TEMPLATES, UNARY


def tool(name, **arguments):
    return Event("tool", name, arguments)


APPROVED = Event("delivery", "approved", {"value": True})
WRITE = EventPattern("tool", ("vault_write",), fields=None)
APPROVAL = EventPattern("delivery", ("approved",))


def rule(template="precedence", events=(APPROVAL, WRITE), **fields):
    return Rule("r", "A sentence.", template, tuple(events), **fields)


def states_after(monitor, *events):
    state = monitor.start
    for event in events:
        state = monitor.step(state, event)
    return state


def breaks(monitor, state, event):
    return not monitor.is_violated(state) and monitor.is_violated(monitor.step(state, event))


def test_a_write_before_an_approval_violates_the_rule_and_one_after_it_does_not():
    monitor = Monitor(rule())

    assert monitor.verdict(states_after(monitor, tool("vault_write"))) == "violated"
    assert monitor.verdict(states_after(monitor, APPROVED, tool("vault_write"))) == "satisfied"


def test_a_response_that_is_still_to_come_is_pending_until_the_run_has_ended():
    monitor = Monitor(rule("response"))
    state = states_after(monitor, APPROVED)

    assert monitor.verdict(state) == "pending"
    assert monitor.verdict(state, ended=True) == "violated"
    assert monitor.verdict(states_after(monitor, APPROVED, tool("vault_write"))) == "satisfied"


def test_a_rule_is_broken_by_one_event_and_only_once():
    monitor = Monitor(rule())

    assert breaks(monitor, monitor.start, tool("vault_write"))
    assert not breaks(monitor, monitor.start, tool("vault_read"))
    assert not breaks(monitor, states_after(monitor, tool("vault_write")), tool("vault_write"))


def test_a_condition_decides_over_the_arguments_and_a_missing_one_is_null():
    where = EventPattern("tool", ("vault_write",), "path == 'a.md' or path is null", fields=None)
    monitor = Monitor(rule("absence", [where]))

    assert breaks(monitor, monitor.start, tool("vault_write", path="a.md"))
    assert breaks(monitor, monitor.start, tool("vault_write"))
    assert not breaks(monitor, monitor.start, tool("vault_write", path="b.md"))


def test_a_condition_that_fails_counts_as_not_fulfilled_and_is_reported_with_its_rule():
    problems = []
    where = EventPattern("tool", None, "len(path) > 3", fields=None)
    monitors = Monitors([rule("absence", [where])], lambda *problem: problems.append(problem))

    assert monitors.advance(monitors.start, tool("vault_list")) == (monitors.start, ())
    [(failed, pattern, error)] = problems
    assert (failed.name, pattern, "null" in error.message) == ("r", where, True)


def test_a_node_is_named_by_the_last_parts_of_its_path():
    pattern = EventPattern("node", ("give_up",), choices=(("result", "success"),))
    monitor = Monitor(rule("absence", [pattern]))

    def ends(path, result="success"):
        return breaks(monitor, monitor.start, Event("node", path, {"result": result}))

    assert ends("give_up")
    assert ends("fallback/selector/give_up")
    assert not ends("fallback/never_give_up")
    assert not ends("give_up/stop")
    assert not ends("give_up", "failure")


def test_directly_after_means_the_next_event_of_the_types_that_the_rule_names():
    read, write = EventPattern("tool", ("vault_read",)), EventPattern("tool", ("vault_write",))
    monitor = Monitor(rule("chain_response", [read, write]))

    assert monitor.verdict(states_after(monitor, tool("vault_read"), APPROVED, tool("vault_write"))) == "satisfied"
    assert monitor.verdict(states_after(monitor, tool("vault_read"), tool("vault_list"))) == "violated"


def test_a_rule_with_a_scope_begins_after_the_first_of_its_events():
    stuck = EventPattern("signal", ("stuck",))
    turns = EventPattern("turn")
    monitor = Monitor(rule("at_most", [turns], times=1, after=stuck))
    turn, signal = Event("turn", "answer"), Event("signal", "stuck")

    assert monitor.verdict(states_after(monitor, turn, turn, turn)) == "satisfied"
    assert monitor.verdict(states_after(monitor, turn, turn, signal, turn), ended=True) == "satisfied"
    assert monitor.verdict(states_after(monitor, turn, signal, turn, signal, turn)) == "violated"


def test_a_scope_that_never_begins_satisfies_the_rule():
    monitor = Monitor(rule("existence", [WRITE], after=APPROVAL))

    assert monitor.verdict(monitor.start, ended=True) == "satisfied"
    assert monitor.verdict(states_after(monitor, APPROVED), ended=True) == "violated"


@pytest.mark.parametrize(
    ("template", "events", "types"),
    [
        ("precedence", (APPROVAL, WRITE), {"tool"}),
        ("response", (APPROVAL, WRITE), set()),
        ("absence", (WRITE,), {"tool"}),
        ("existence", (WRITE,), set()),
        ("not_co_existence", (APPROVAL, WRITE), {"tool", "delivery"}),
        ("chain_response", (APPROVAL, WRITE), {"tool", "delivery"}),
        ("not_succession", (APPROVAL, WRITE), {"tool"}),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_the_events_that_can_break_a_rule_are_known(template, events, types):
    assert Monitor(rule(template, events)).breaking() == types


def test_all_rules_of_a_run_are_judged_together_and_each_violation_is_given_once_with_its_event():
    first = Rule("approval_first", "…", "precedence", (APPROVAL, WRITE))
    second = Rule("one_list", "…", "exactly", (EventPattern("tool", ("vault_list",)),))
    monitors, write = Monitors([first, second]), tool("vault_write", path="a.md")

    states, broken = monitors.advance(monitors.start, write)
    assert broken == (first,)
    states, broken = monitors.advance(states, write)
    assert broken == ()
    assert list(monitors.pending(states)) == [second]
    assert monitors.broken_by([write, write, tool("vault_read")]) == (first, second)


def test_states_are_small_values_that_can_be_stored_and_compared():
    monitors = Monitors([rule(), rule("at_most", [WRITE], times=3)])
    states, broken = monitors.advance(monitors.start, tool("vault_write"))

    assert [each.name for each in broken] == ["r"]
    assert len({monitors.start, states, monitors.advance(monitors.start, tool("vault_write"))[0]}) == 2
    assert monitors.advance(states, Event("turn", "answer"))[0] is states


PATTERNS = st.builds(
    EventPattern,
    st.sampled_from(["tool", "node"]),
    st.sampled_from([None, ("a",), ("b", "c")]),
    st.sampled_from(["", "n > 1", "n is null"]),
    fields=st.just(frozenset({"n"})),
)
EVENTS = st.builds(
    Event,
    st.sampled_from(["tool", "node", "key"]),
    st.sampled_from(["a", "b", "x/c", "d"]),
    st.sampled_from([{}, {"n": 0}, {"n": 2}]),
)


@given(
    rules=st.lists(
        st.builds(
            lambda template, first, then, after: Rule(
                "r", "…", template, (first,) if template in UNARY else (first, then), 2, after
            ),
            st.sampled_from(TEMPLATES),
            PATTERNS,
            PATTERNS,
            st.one_of(st.none(), PATTERNS),
        ),
        max_size=4,
    ),
    events=st.lists(EVENTS, max_size=12),
)
def test_all_monitors_together_go_the_ways_that_each_goes_alone(rules, events):
    together, states = Monitors(rules), Monitors(rules).start
    for event in events:
        alone = tuple(monitor.step(state, event) for monitor, state in zip(together.monitors, states, strict=True))
        breaking = [breaks(monitor, state, event) for monitor, state in zip(together.monitors, states, strict=True)]
        states, broken = together.advance(states, event)
        assert states == alone
        assert list(broken) == [rule for rule, breaks_it in zip(rules, breaking, strict=True) if breaks_it]
