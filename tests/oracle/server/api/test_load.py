import httpx2
import pytest
from structlog.testing import capture_logs

from oracle.core.logs.configuring import configure_logging
from oracle.server.api.load import MOST_LAG_S, LoopLoad, OverloadedError
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
        with pytest.raises(OverloadedError, match=f"at most {MOST_LAG_S} s"):
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
        assert_refused(refused, "The service has more to do than it can; come back in a moment.")
        ready = await client.get("/readyz")
        assert_refused(ready, f"overloaded: the event loop is {load.lag_s:.1f} s late; new queries are refused.")
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


def assert_refused(response: httpx2.Response, detail: str) -> None:
    assert (response.status_code, response.json()) == (503, {"detail": detail})
    assert int(response.headers["retry-after"]) > 0
