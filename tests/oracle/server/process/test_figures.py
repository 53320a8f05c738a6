import asyncio
from contextlib import AsyncExitStack
from functools import partial

from prometheus_client.parser import text_string_to_metric_families

from oracle.core.metrics import Metrics
from oracle.server.process.figures import figures_of_all, merged
from oracle.server.process.server import bind

GUARD_S = 20


def samples_of(text):
    return {
        (each.name, *sorted(each.labels.items())): each.value
        for family in text_string_to_metric_families(text.decode())
        for each in family.samples
    }


def test_the_figures_of_workers_are_one_text_that_has_all_of_each():
    made = {number: Metrics(tools=["a{b} c", 'say "x"']) for number in (1, 2)}
    for number, metrics in made.items():
        metrics.run_started("oracle")
        for _ in range(number):
            metrics.tool_ended("a{b} c", 0.5, is_error=False)
            metrics.tool_ended('say "x"', 0.5, is_error=True)
    texts = {number: metrics.exposition() for number, metrics in made.items()}
    expected = {
        (name, *sorted([*labels, ("worker", str(number))])): value
        for number, text in texts.items()
        for (name, *labels), value in samples_of(text).items()
    }
    text = merged(texts)
    assert samples_of(text) == expected
    assert text.count(b"# TYPE oracle_tool_seconds histogram\n") == 1
    assert merged({1: b"", 2: texts[2]}) == merged({2: texts[2]})


async def test_whichever_worker_is_asked_tells_the_figures_of_all_that_live():
    listeners = [bind("127.0.0.1", 0) for _ in range(3)]  # nobody listens for the third
    async with AsyncExitStack() as stack, asyncio.timeout(GUARD_S):
        asked = [
            await stack.enter_async_context(figures_of_all(number, listeners, own=partial(told_by, number)))
            for number in (1, 2)
        ]
        told = [await each() for each in asked]
    for each in listeners:
        each.close()
    assert told == [b'# HELP a b\n# TYPE a gauge\na{worker="1"} 1\na{worker="2"} 2\n'] * 2


def told_by(number):
    return b"# HELP a b\n# TYPE a gauge\na %d\n" % number
