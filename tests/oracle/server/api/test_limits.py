from bt_runtime.testing import FakeClock
from oracle.server.api.guards import RequestLimit


def test_so_many_requests_go_at_once_and_then_one_for_each_part_of_the_minute():
    clock = FakeClock(jump=False)
    limit = RequestLimit(6, clock=clock.now)
    assert [limit.take("alice") for _ in range(7)] == [0, 0, 0, 0, 0, 0, 10]
    clock.advance(9.5)
    assert limit.take("alice") == 1
    clock.advance(0.5)
    assert [limit.take("alice") for _ in range(2)] == [0, 10]


def test_a_refused_request_costs_nothing():
    clock = FakeClock(jump=False)
    limit = RequestLimit(1, clock=clock.now)
    assert limit.take("alice") == 0
    assert [limit.take("alice") for _ in range(100)] == [60] * 100
    clock.advance(60)
    assert limit.take("alice") == 0


def test_reads_are_counted_apart_and_ten_times_as_many():
    limit = RequestLimit(2, clock=FakeClock(jump=False).now)
    assert [limit.take("alice") for _ in range(3)] == [0, 0, 30]
    assert [limit.take("alice", is_read=True) for _ in range(21)] == [0] * 20 + [3]
    assert limit.take("alice") == 30


def test_who_was_quiet_for_long_has_no_more_than_one_minutes_worth():
    clock = FakeClock(jump=False)
    limit = RequestLimit(2, clock=clock.now)
    limit.take("alice")
    clock.advance(86_400)
    assert [limit.take("alice") for _ in range(3)] == [0, 0, 30]


def test_one_users_requests_are_nothing_to_another():
    limit = RequestLimit(1, clock=FakeClock(jump=False).now)
    assert [limit.take(user) for user in ("alice", "bob", "alice", "bob")] == [0, 0, 60, 60]


def test_any_number_of_users_takes_bounded_memory():
    limit = RequestLimit(1, clock=FakeClock(jump=False).now)
    assert [limit.take(f"user-{number}") for number in range(20_000)] == [0] * 20_000
    assert len(limit._buckets) == 10_000
    assert limit.take("user-19999") == 60
