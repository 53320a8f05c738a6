import asyncio
import time

from structlog.testing import capture_logs

from oracle.server.process.process import measured_lag


async def test_a_blocked_loop_is_measured_and_a_long_block_is_logged():
    measured, seen = [], asyncio.Event()

    def observe(seconds):
        measured.append(seconds)
        if seconds > 0.02:
            seen.set()

    with capture_logs() as logs:
        async with measured_lag(observe, interval_s=0.001, long_s=0.02), asyncio.timeout(20):
            await asyncio.sleep(0)
            time.sleep(0.05)  # noqa: ASYNC251  blocks the loop, which is what is measured
            await seen.wait()
    assert max(measured) > 0.02
    assert [each["event"] for each in logs][:1] == ["loop.lagged"]
    count = len(measured)
    await asyncio.sleep(0)
    assert len(measured) == count
