"""W3C Trace Context, read from clients that cannot be trusted; OpenTelemetry's propagator reads it."""

import asyncio

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider

from oracle.core.logs import configure_logging
from oracle.core.traces import trace_headers
from oracle.features.traces.spans import SpanTraces, headers_of, place_of

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{SPAN}-01"


def test_a_valid_header_is_read_and_written_again():
    place = place_of([VALID], ["a=1, b=2", "c=3"])
    assert (place.trace_id, place.span_id, place.trace_flags.sampled) == (int(TRACE, 16), int(SPAN, 16), True)
    assert headers_of(place) == {"traceparent": VALID, "tracestate": "a=1,b=2,c=3"}


@pytest.mark.parametrize(
    "parent",
    [
        "",
        "00",
        VALID[:-1],
        VALID + "0",
        VALID + "-more",  # version 00 has no more
        VALID.upper(),
        f"ff-{TRACE}-{SPAN}-01",
        f"0-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[:-1]}g-{SPAN}-01",
        f"00_{TRACE}_{SPAN}_01",
        f"00-{TRACE}-{SPAN}-0x",
        f"00-{TRACE[:-1]}\u0664-{SPAN}-01",  # a digit, but not of ASCII
        f"01-{TRACE}-{SPAN}-01-{'x' * 500}",
        "\x1b[2J",
    ],
)
def test_what_is_not_valid_is_ignored(parent):
    assert place_of([parent], ["a=1"]) is None


def test_none_and_two_are_ignored():
    assert place_of([]) is None
    assert place_of([VALID, VALID]) is None


def test_a_later_version_is_read_as_far_as_it_is_known():
    assert headers_of(place_of([f"01-{TRACE}-{SPAN}-03-more"])) == {"traceparent": f"00-{TRACE}-{SPAN}-03"}
    assert headers_of(place_of([f"cc-{TRACE}-{SPAN}-00"])) == {"traceparent": f"00-{TRACE}-{SPAN}-00"}
    assert place_of([f"cc-{TRACE}-{SPAN}-00more"]) is None


@pytest.mark.parametrize(
    "states",
    [
        ["a"],
        ["A=1"],
        ["a=1,a=2"],
        ["a=1=2"],
        ["a=\x1b"],
        ["a=ü"],
        ["a="],
        [",".join(f"k{n}=1" for n in range(33))],
        ["a=" + "x" * 257],
        ["a=1"] * 200,
        [",".join(f"k{n}={'x' * 256}" for n in range(32))],  # longer than OpenTelemetry takes
    ],
)
def test_an_invalid_state_is_dropped_alone(states):
    assert headers_of(place_of([VALID], states)) == {"traceparent": VALID}


@given(
    st.one_of(st.text(max_size=80), st.text("0123456789abcdef-", min_size=50, max_size=60)),
    st.lists(st.text(max_size=60), max_size=5),
)
@example(VALID, ["a=\x1b"])
@example(VALID + "-x", [])
@example(f"01-{TRACE}-{SPAN}-01-x", ["a=1"])
def test_nothing_makes_it_fail_and_what_is_kept_is_printable(parent, states):
    for place in (place_of([parent], states), place_of([VALID], states)):
        if place is not None:
            headers = headers_of(place)
            assert all(value.isascii() and value.isprintable() for value in headers.values())


async def test_headers_are_those_of_the_task_and_of_what_it_starts():
    async def read():
        return trace_headers()

    traces = SpanTraces(TracerProvider(shutdown_on_exit=False).get_tracer("test"), system="anthropic")
    run = traces.begin(tree="oracle", version=None, model="any", headers={"traceparent": [VALID]})
    wanted = run.noted()["run"]
    assert wanted["traceparent"].startswith(f"00-{TRACE}-")
    assert trace_headers() == {}
    with run.entered():
        assert await asyncio.create_task(read()) == wanted
        assert await asyncio.to_thread(trace_headers) == wanted
        trace_headers()["traceparent"] = "changed"
        assert trace_headers() == wanted
    assert trace_headers() == {}


def test_what_a_client_sends_is_not_logged(capsys):
    configure_logging("warning")
    assert headers_of(place_of([VALID], ["not a member"])) == {"traceparent": VALID}
    assert place_of(["0" * 600]) is None
    assert capsys.readouterr().err == ""


def test_the_span_of_a_host_is_not_carried_where_no_run_is():
    with TracerProvider(shutdown_on_exit=False).get_tracer("host").start_as_current_span("host"):
        assert trace_headers() == {}
