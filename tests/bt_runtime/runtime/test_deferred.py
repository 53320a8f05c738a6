"""Nodes that are made when the composite above them first ticks: runs are as if all had been made at the start."""

import asyncio
import json

from hypothesis import assume, given
from hypothesis import strategies as st

from bt_runtime import Recording, RunLoop, TreeFileError, build
from bt_runtime.library.named import read_sources
from bt_runtime.testing import FakeClock, registry_of
from tests.bt_runtime.replays.test_replaying import EVENTS, LEAVES, PROPERTY, TREES, Work, composites

KEYS = {"count": {"type": "int", "default": 0}, "found": "any"}
OUTER = st.recursive(
    st.one_of(LEAVES, st.sampled_from([{"subtree": "first"}, {"subtree": "second"}])), composites, max_leaves=6
)
REGISTRY = registry_of([Work.kind])


def read(root, first, second):
    inner = json.dumps({"tree": "second", "internal": True, "blackboard": KEYS, "root": second})
    middle = {"sequence": [{"set": {"count": "count + 1"}}, first, {"subtree": "second"}]}
    sources = {
        "demo": json.dumps({"tree": "demo", "blackboard": KEYS, "root": {"selector": [root, {"subtree": "first"}]}}),
        "first": json.dumps({"tree": "first", "internal": True, "blackboard": KEYS, "root": middle}),
        "second": inner,
    }
    return read_sources(sources, name="demo", registry=REGISTRY)


def made(live):
    """How many nodes there are, without making more."""
    waiting, count = [live.root], 0
    while waiting:
        count += 1
        waiting += waiting.pop().child_nodes
    return count


async def ticks_of(definition, events, *, is_eager):
    """The records of a run, as they are kept."""
    clock = FakeClock()
    live = build(definition, registry=REGISTRY, host=clock)
    if is_eager:
        assert len(live.nodes) == len(live.paths) == made(live)
    recording = Recording(live.paths)
    loop = RunLoop(live, clock=clock, observers=[recording], max_ticks_without_event=60)

    async def outside():
        for seconds, (key, value) in events:
            await clock.sleep(seconds)
            loop.deliver(key, value)
        await clock.sleep(1000)
        running.cancel()

    running, telling = asyncio.create_task(loop.run()), asyncio.create_task(outside())
    await asyncio.wait([running])
    telling.cancel()
    await asyncio.wait([telling])
    return list(recording), live


@PROPERTY
@given(OUTER, TREES, TREES, EVENTS)
def test_a_run_has_the_records_of_one_whose_nodes_were_all_there(root, first, second, events):
    try:
        definition = read(root, first, second)
    except TreeFileError:  # such as a subtree that works, before a child of a sequence without memory
        assume(False)
    eager, _ = asyncio.run(ticks_of(definition, events, is_eager=True))
    deferred, live = asyncio.run(ticks_of(definition, events, is_eager=False))
    assert deferred == eager
    assert made(live) <= len(live.paths)
    assert [(node.index, node.path) for node in live.nodes] == list(enumerate(live.paths))


def test_what_never_ticks_is_never_made():
    root = {"selector": [{"condition": "count == 0"}, {"sequence": [{"condition": "True"}, {"condition": "True"}]}]}
    definition = read(root, {"condition": "True"}, {"condition": "True"})
    records, live = asyncio.run(ticks_of(definition, [], is_eager=False))
    assert [record.changes for record in records]
    assert (made(live), len(live.paths)) == (5, 12)
    assert len(list(live.root.iterate())) == 12  # py_trees' tools see all of them
