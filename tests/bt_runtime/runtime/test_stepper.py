"""The rules of the stepper, one by one; driven by hand, so nothing here waits or is awaited."""

import pytest

from bt_runtime import Action, HotLoopError, Node, NoSettings, Outcome, RunError, StalledError, Status, Stepper, node
from tests.bt_runtime.running import S, live


@node("work", acts=False)
class Work(Action[NoSettings]):
    """Asks for work that nobody does; what comes of it is in the key `found`."""

    async def start(self):
        raise AssertionError("a stepper starts nothing itself")

    def finish(self, value):
        self.run.blackboard.set("found", value)
        return Status.SUCCESS

    def interrupted(self, value):
        self.run.blackboard.set("found", value)


TIMED = "selector: [{timeout: {seconds: 5, child: {work: {name: slow}}}}, {work: {name: other}}]"
SLOW, OTHER = "selector/timeout/slow@1", "selector/other@1"
TWICE = "repeat: {times: 2, child: work}"


class Holding:
    """Holds everything, until it has to let go, or to end the run."""

    holds, ends, asked = True, False, 0

    def deadline_s(self):
        return 60.0

    def judge(self, standing):
        self.asked += 1
        if self.ends:
            return None
        return () if self.holds else standing.posted


def stepper_of(root, supervisor=None, *, kinds=(), **options):
    tree = live(root, kinds=[Work.kind, *kinds])
    return tree, Stepper(tree, supervisor, **options)


def done(key, value=None, *, at_s=0.0):
    return Outcome(key, "done", value, at_s=at_s)


def keys(requests):
    return [request.key for request in requests]


def begun(root, supervisor=None, **options):
    """A run after its first tick, whose work has been started."""
    tree, stepper = stepper_of(root, supervisor, **options)
    stepper.tick(stepper.begin(0.0))
    stepper.start()
    return tree, stepper


def timed_out():
    """A run whose first work was halted by a deadline, and is to be cancelled."""
    tree, stepper = begun(TIMED)
    stepper.tick(stepper.due(5.0))
    assert keys(stepper.halted) == [SLOW]
    return tree, stepper


# The beginning


def test_a_run_is_not_over_before_its_first_tick_which_is_due_at_once():
    _, stepper = stepper_of("work")
    assert not stepper.is_over
    assert stepper.start() == ()
    given = stepper.due(3.0)
    assert (given.cause, given.at_s) == ("start", 3.0)


def test_a_run_that_is_halted_before_its_first_tick_is_over():
    _, stepper = stepper_of("work")
    stepper.halt()
    assert stepper.is_over
    assert stepper.due(0.0) is None
    assert stepper.close(0.0) is None


def test_what_was_delivered_before_the_beginning_is_in_the_first_tick():
    tree, stepper = stepper_of("work")
    stepper.deliver("cancel_requested", value=True, at_s=0.0)
    given = stepper.due(1.0)
    assert (given.cause, given.deliveries) == ("start", (("cancel_requested", True),))
    stepper.tick(given)
    assert tree.blackboard["cancel_requested"] is True


# Rules 1 and 2: what causes a tick, and when


def test_an_event_comes_before_a_wish_to_be_ticked_again():
    _, stepper = begun("parallel: [work, {scripted: [RUNNING, SUCCESS]}]")
    stepper.ended(done("parallel/work@1"))
    given = stepper.due(0.0)
    assert (given.cause, given.causes, keys(given.outcomes)) == ("outcome", ("parallel/work@1",), ["parallel/work@1"])


def test_a_wish_to_be_ticked_again_comes_before_a_deadline():
    _, stepper = begun("parallel: [{wait: 1}, {scripted: [RUNNING, SUCCESS]}]")
    assert stepper.wake_at_s == 1.0
    given = stepper.due(1.0)
    assert (given.cause, given.causes) == ("again", ("parallel/scripted",))


def test_nothing_is_due_before_the_deadline_that_the_run_wakes_at():
    _, stepper = begun(TIMED)
    assert stepper.wake_at_s == 5.0
    assert stepper.due(4.9) is None
    given = stepper.due(5.1)
    assert (given.cause, given.causes, given.at_s) == ("deadline", ("selector/timeout",), 5.1)


def test_work_that_ended_before_a_deadline_is_in_time_however_late_one_looks():
    tree, stepper = begun(TIMED)
    stepper.ended(done(SLOW, "in time", at_s=4.0))
    given = stepper.due(9.0)
    assert (given.cause, given.at_s) == ("outcome", 4.0)
    stepper.tick(given)
    assert tree.root.status is S
    assert tree.blackboard["found"] == "in time"


def test_time_never_goes_back():
    _, stepper = begun(TWICE)
    stepper.ended(done("repeat/work@1", at_s=7.0))
    stepper.tick(stepper.due(7.0))
    assert stepper.due(3.0).at_s == 7.0


# Rule 3: halted work is settled first


def test_nothing_starts_and_nothing_is_ticked_before_the_work_of_halted_nodes_is_settled():
    _, stepper = timed_out()
    with pytest.raises(RunError, match=rf"given to `settle` before anything else starts: '{SLOW}'"):
        stepper.start()
    with pytest.raises(RunError, match=rf"given to `settle` before the next tick: '{SLOW}'"):
        stepper.tick(stepper.input("delivery", (), 6.0))
    stepper.settle([Outcome(SLOW, "cancelled")])
    assert keys(stepper.start()) == [OTHER]
    assert list(stepper.under_way) == [OTHER]


def test_a_partial_result_is_given_to_its_node_and_is_an_input_of_the_next_tick():
    tree, stepper = timed_out()
    stepper.settle([Outcome(SLOW, "cancelled", "half")])
    assert tree.blackboard["found"] == "half"
    stepper.start()
    stepper.ended(done(OTHER))
    given = stepper.due(6.0)
    assert [(outcome.key, outcome.state) for outcome in given.outcomes] == [(SLOW, "cancelled"), (OTHER, "done")]
    stepper.tick(given)
    assert stepper.interrupted == ()


def test_work_that_had_ended_before_it_could_be_cancelled_is_withdrawn():
    _, stepper = begun(TIMED)
    stepper.tick(stepper.due(5.0))
    stepper.ended(done(SLOW, "whole", at_s=5.0))
    (request,) = stepper.halted
    outcome = stepper.withdraw(request)
    assert (outcome.state, outcome.value) == ("cancelled", "whole")
    assert not stepper.has_events
    assert stepper.withdraw(request) is None


def test_a_key_that_a_partial_result_changes_wakes_who_waits_for_it():
    root = "parallel: [{wait: {until: found}}, {force_success: {timeout: {seconds: 5, child: {work: {name: slow}}}}}]"
    tree, stepper = begun(root)
    stepper.tick(stepper.due(5.0))
    assert stepper.again(5.0) is None
    stepper.settle([Outcome(stepper.halted[0].key, "cancelled", "half")])
    given = stepper.due(5.0)
    assert (given.cause, given.causes) == ("again", ("parallel/wait",))
    stepper.tick(given)
    assert tree.root.status is S


# Rule 4: what starts


def test_what_a_tick_posts_starts_in_the_order_in_which_it_was_posted():
    _, stepper = stepper_of("parallel: [{work: {name: a}}, {work: {name: b}}]")
    stepper.tick(stepper.begin(0.0))
    assert keys(stepper.posted) == ["parallel/a@1", "parallel/b@1"]
    assert keys(stepper.start()) == ["parallel/a@1", "parallel/b@1"]
    assert stepper.start() == ()


def test_a_supervisor_may_hold_what_is_posted_and_wakes_the_run_by_its_own_deadline():
    holding = Holding()
    _, stepper = stepper_of("work", holding)
    assert (stepper.start(), holding.asked) == ((), 0)
    stepper.tick(stepper.begin(0.0))
    assert stepper.start() == ()
    assert keys(stepper.posted) == ["work@1"]
    assert stepper.due(59.0) is None
    stepper.tick(stepper.due(60.0))
    holding.holds = False
    assert keys(stepper.start()) == ["work@1"]


def test_a_supervisor_ends_the_run_after_the_tree_had_the_first_word():
    holding = Holding()
    _, stepper = stepper_of("work", holding)
    stepper.tick(stepper.begin(0.0))
    holding.ends = True
    assert not stepper.is_over
    assert stepper.start() == ()
    assert stepper.is_over
    assert stepper.due(99.0) is None
    result = stepper.result()
    assert (result.status, result.is_stopped, result.error) == (Status.FAILURE, True, None)


def test_a_supervisor_is_not_asked_about_a_tree_that_has_ended():
    holding = Holding()
    _, stepper = begun("scripted: [SUCCESS]", holding)
    assert (stepper.is_over, holding.asked) == (True, 0)


# Rule 5: runs that would never end


def test_ticks_in_a_row_without_an_event_are_a_hot_loop():
    _, stepper = begun("loop: {name: hot, child: {set: {count: count + 1}}}", max_free_ticks=3)
    for _ in range(3):
        stepper.tick(stepper.again(0.0))
    with pytest.raises(HotLoopError) as caught:
        stepper.due(0.0)
    assert (caught.value.path, caught.value.count) == ("hot", 3)


@pytest.mark.parametrize("cause", ["outcome", "recorded"])
def test_an_event_ends_the_row_whoever_gives_it(cause):
    _, stepper = begun("repeat: {times: 9, child: work}", max_free_ticks=1)
    for nth in range(1, 9):
        outcome = done(f"repeat/work@{nth}", at_s=nth)
        if cause == "outcome":
            stepper.ended(outcome)
            stepper.tick(stepper.due(nth))
        else:
            stepper.answer(outcome)
            stepper.tick(stepper.input("outcome", (outcome.key,), nth, (outcome,)))
        stepper.tick(stepper.again(nth))
        assert keys(stepper.start()) == [f"repeat/work@{nth + 1}"]


def test_a_wait_for_a_deadline_ends_the_row_and_a_deadline_that_has_passed_does_not():
    @node("impatient", waits=True)
    class Impatient(Node[NoSettings]):
        """RUNNING, and wants to be ticked a second later."""

        def update(self):
            self.run.wake_at(self.index, self.run.now_s + 1)
            return Status.RUNNING

    _, stepper = begun("impatient", kinds=[Impatient.kind], max_free_ticks=2)
    for now_s in range(1, 9):
        assert stepper.due(now_s - 0.5) is None
        stepper.tick(stepper.due(now_s))
    stepper.tick(stepper.due(50.0))
    with pytest.raises(HotLoopError):
        stepper.due(100.0)


def test_a_tree_that_waits_for_nothing_that_can_come_is_stalled():
    @node("forgetful", waits=True)
    class Forgetful(Node[NoSettings]):
        """RUNNING, and says nothing of what it waits for."""

        def update(self):
            return Status.RUNNING

    _, stepper = begun("sequence: [forgetful]", kinds=[Forgetful.kind])
    with pytest.raises(StalledError) as caught:
        stepper.due(0.0)
    assert caught.value.paths == ("sequence/forgetful",)


# Rule 6: the end


def test_a_run_that_has_ended_starts_nothing_and_nothing_is_due():
    _, stepper = begun("work")
    stepper.ended(done("work@1"))
    stepper.tick(stepper.due(0.0))
    stepper.deliver("cancel_requested", value=True, at_s=0.0)
    assert stepper.is_over
    assert stepper.start() == ()
    assert stepper.due(99.0) is None
    assert (stepper.result().status, stepper.result().ticks) == (S, 2)


def test_what_the_end_has_changed_is_the_last_record():
    tree, stepper = begun("work")
    stepper.halt()
    assert stepper.is_over
    stepper.settle([Outcome("work@1", "cancelled", "half")])
    record = stepper.close(8.0)
    assert (record.cause, record.at_s, keys(record.outcomes)) == ("end", 8.0, ["work@1"])
    assert tree.blackboard["found"] == "half"


def test_a_snapshot_brings_back_whether_the_run_is_over():
    tree, stepper = begun("work", holding := Holding())
    saved, context = stepper.snapshot(), tree.context.snapshot()
    holding.ends = True
    stepper.start()
    assert (stepper.is_over, stepper.is_stopped) == (True, True)
    stepper.put_back(saved)
    tree.context.put_back(context)
    assert (stepper.is_over, stepper.is_stopped) == (False, False)
