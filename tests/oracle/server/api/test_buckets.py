import subprocess
import sys
from contextlib import closing

import pytest

from bt_runtime.testing import FakeClock
from oracle.server.api.guards import RequestLimit
from oracle.server.api.load import Bucket, OwnBuckets, SharedBuckets


@pytest.fixture
def shared():
    with closing(SharedBuckets()) as buckets:
        yield buckets


@pytest.fixture(params=["own", "shared"])
def buckets(request):
    return OwnBuckets() if request.param == "own" else request.getfixturevalue("shared")


def test_a_bucket_is_what_it_was_last_changed_to_and_nobody_elses(buckets):
    seen = []

    def taken(bucket):
        seen.append(bucket)
        return Bucket(len(seen), 5.0 * len(seen))

    for user in ("anna", "ben", "anna", "änne\udce9", "anna"):
        assert buckets.change(user, taken) == Bucket(len(seen), 5.0 * len(seen))
    assert seen == [None, None, (1.0, 5.0), None, (3.0, 15.0)]


def test_many_users_are_counted_and_those_of_long_ago_forgotten(buckets):
    for at in range(40_000):
        buckets.change(f"user {at}", lambda bucket, at=at: Bucket(1.0, float(at + 1)))
    remembered = []

    def ask(bucket):
        remembered.append(bucket is not None)
        return Bucket(1.0, 1e6)

    for at in range(39_000, 40_000):
        buckets.change(f"user {at}", ask)
    assert sum(remembered) > 990
    buckets.change("user 0", ask)
    assert not remembered[-1]


def test_a_change_that_fails_changes_nothing_and_excludes_nobody(shared):
    shared.change("anna", lambda _: Bucket(3.0, 1.0))
    with pytest.raises(ZeroDivisionError):
        shared.change("anna", lambda _: Bucket(1 / 0, 1.0))
    assert shared.change("anna", lambda bucket: bucket) == (3.0, 1.0)


def test_limits_over_the_same_buckets_count_together(shared):
    clock = FakeClock(jump=False)
    one, two = (RequestLimit(2, clock=clock.now, buckets=shared) for _ in range(2))
    assert [one.take("anna"), two.take("anna")] == [0, 0]
    assert one.take("anna") == two.take("anna") == 30
    assert two.take("ben") == 0


def test_a_process_that_was_forked_counts_with_its_parent():
    script = (
        "import os; from oracle.server.api.load import Bucket, SharedBuckets; buckets = SharedBuckets()\n"
        "add = lambda bucket: Bucket(1.0 if bucket is None else bucket.left + 1, 1.0)\n"
        "if child := os.fork():\n"
        "    [buckets.change('anna', add) for _ in range(2000)]; os.waitpid(child, 0)\n"
        "    print(buckets.change('anna', lambda bucket: bucket).left)\n"
        "else:\n"
        "    [buckets.change('anna', add) for _ in range(2000)]\n"
    )
    assert run_python(script) == "4000.0\n"


def run_python(script):
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
