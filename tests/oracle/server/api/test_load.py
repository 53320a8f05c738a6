import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

import httpx2
import pytest
from structlog.testing import capture_logs

from oracle.core.errors import UserError
from oracle.core.logs import configure_logging
from oracle.server.api.app import build_app
from oracle.server.api.load import MOST_LAG_S, MOST_OPENINGS, MOST_WAITING, LoopLoad
from tests.oracle.server.api.conftest import HANGS

LATE = [3 * MOST_LAG_S] * 3
KEY = {"Idempotency-Key": "a-question"}


def noted(load, *lags):
    for lag_s in lags:
        load.note(lag_s)
    return load.is_overloaded


@pytest.mark.parametrize(
    ("lags", "is_overloaded"),
    [
        ([], False),
        ([0.01] * 100, False),
        ([0.1] * 100 + [3600.0] * 2, False),
        ([3600.0, 0.3] * 4, True),
        ([MOST_LAG_S] * 100, False),
        ([1.2 * MOST_LAG_S] * 7, True),
        (LATE, True),
    ],
    ids=["fresh", "quiet", "two stalls", "stall after stall", "at the bound", "beyond it", "late"],
)
def test_a_lag_in_one_measurement_after_another_is_an_overload(lags, is_overloaded):
    assert noted(LoopLoad(), *lags) is is_overloaded


def test_it_takes_queries_again_well_below_the_bound_and_soon():
    load = LoopLoad()
    configure_logging("info")
    with capture_logs() as logs:
        assert noted(load, *LATE)
        with pytest.raises(UserError, match=f"at most {MOST_LAG_S} s"):
            load.admit()
        assert noted(load, *[0.8 * MOST_LAG_S] * 100)
        assert not noted(load, 0.0, 0.0)
        load.admit()
        assert not noted(load, *[0.8 * MOST_LAG_S] * 100)
    assert [each["event"] for each in logs] == ["service.overloaded", "service.caught_up"]


@pytest.mark.parametrize("path", ["/api/oracle/stream", "/api/oracle"])
async def test_an_overloaded_service_takes_no_queries_and_everything_else(start, path):
    service = await start([HANGS])
    load, client = service.parts.load, service.client
    async with service.asking("hello", headers=KEY) as streamed:
        await streamed.until("here")
        assert noted(load, *LATE)
        refused = await client.post(path, json={"question": "q"})
        assert_refused(refused, "The service is overloaded; try again in a moment.")
        ready = await client.get("/readyz")
        assert_refused(ready, f"overloaded: the event loop is {load.lag_s:.1f} s late; new questions are refused.")
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get(f"/api/oracle/runs/{streamed.run_id}")).json()["status"] == "running"
        async with service.asking("hello", headers=KEY) as again:
            assert again.run_id == streamed.run_id
            assert (await client.post(f"/api/oracle/runs/{streamed.run_id}/cancel")).status_code == 202
            await again.rest()
        await streamed.rest()
    assert streamed.done == again.done
    assert streamed.done["termination_reason"] == "user_cancelled"
    assert [each["run_id"] for each in (await client.get("/api/runs")).json()["runs"]] == [streamed.run_id]
    assert not noted(load, *[0.0] * 5)
    assert (await client.get("/readyz")).json() == {"status": "ready"}
    async with service.asking("and now?") as other:
        await other.until("here")


async def opened(load, number, order, ending):
    """A query that is being opened until `ending` is set."""
    async with load.opening():
        order.append(number)
        await ending.wait()


async def test_queries_that_come_at_once_are_opened_a_few_at_a_time_in_their_order():
    load, order, ending = LoopLoad(), [], asyncio.Event()
    numbers = range(MOST_OPENINGS + MOST_WAITING)
    tasks = [asyncio.create_task(opened(load, number, order, ending)) for number in numbers]
    await asyncio.sleep(0)
    assert order == [*numbers][:MOST_OPENINGS]
    with pytest.raises(UserError, match=f"{MOST_WAITING} runs wait"):
        await opened(load, -1, order, ending)
    ending.set()
    await asyncio.gather(*tasks)
    assert order == [*numbers]
    await opened(load, -1, order, ending)


async def test_one_that_is_not_opened_in_time_or_given_up_takes_the_place_of_no_other():
    load, order, ending = LoopLoad(most_wait_s=0.001), [], asyncio.Event()
    async with AsyncExitStack() as stack:
        for _ in range(MOST_OPENINGS):
            await stack.enter_async_context(load.opening())
        late = [opened(load, number, order, ending) for number in range(MOST_WAITING)]
        refused = await asyncio.gather(*late, return_exceptions=True)
        assert {type(each) for each in refused} == {UserError}
        given_up = asyncio.create_task(opened(load, -1, order, ending))
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.wait({given_up})
    ending.set()
    await asyncio.gather(*(opened(load, number, order, ending) for number in range(MOST_OPENINGS)))
    assert order == [*range(MOST_OPENINGS)]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/oracle/stream", {"question": "q"}),
        ("/api/oracle/runs", {"question": "q"}),
        ("/v1/chat/completions", {"model": "oracle", "messages": [{"role": "user", "content": "q"}]}),
    ],
)
async def test_while_others_are_opened_a_query_is_refused_in_time_and_probes_are_answered(service, path, body):
    load = LoopLoad(most_wait_s=0.001)
    app = build_app(replace(service.parts, load=load))
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
        async with AsyncExitStack() as stack:
            for _ in range(MOST_OPENINGS):
                await stack.enter_async_context(load.opening())
            refused = await client.post(path, json=body)
            assert (refused.status_code, "retry-after" in refused.headers) == (503, True)
            assert [(await client.get(probe)).status_code for probe in ("/healthz", "/readyz")] == [200, 200]
        assert (await client.post(path, json=body)).status_code < 300


def assert_refused(response: httpx2.Response, detail: str) -> None:
    assert (response.status_code, response.json()) == (503, {"detail": detail})
    assert int(response.headers["retry-after"]) > 0
