"""W3C Trace Context, read from clients that cannot be trusted."""

import asyncio

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry.trace import get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from oracle.traces import TraceContext, carrying, trace_headers

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{SPAN}-01"


def test_a_valid_header_is_read_and_written_again():
    context = TraceContext.parse([VALID], ["a=1, b=2", "c=3"])
    assert context == TraceContext(TRACE, SPAN, 1, "a=1,b=2,c=3")
    assert context.headers == {"traceparent": VALID, "tracestate": "a=1,b=2,c=3"}
    assert context.is_sampled


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
        f"00-{TRACE}-{SPAN}-01\n",
        f"00-{TRACE[:-1]}\u0664-{SPAN}-01",  # a digit, but not of ASCII
        f"01-{TRACE}-{SPAN}-01-{'x' * 300}",
        "\x1b[2J",
    ],
)
def test_what_is_not_valid_is_ignored(parent):
    assert TraceContext.parse([parent], ["a=1"]) is None


def test_none_and_two_are_ignored():
    assert TraceContext.parse([]) is None
    assert TraceContext.parse([VALID, VALID]) is None


def test_a_later_version_is_read_as_far_as_it_is_known():
    assert TraceContext.parse([f"01-{TRACE}-{SPAN}-ff-more"]) == TraceContext(TRACE, SPAN, 3)
    assert TraceContext.parse([f"cc-{TRACE}-{SPAN}-00"]) == TraceContext(TRACE, SPAN, 0)
    assert TraceContext.parse([f"cc-{TRACE}-{SPAN}-00more"]) is None


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
        [f"a={'x' * 200},b={'x' * 200},c={'x' * 200}"],
    ],
)
def test_an_invalid_state_is_dropped_alone(states):
    assert TraceContext.parse([VALID], states) == TraceContext(TRACE, SPAN, 1)


@given(st.one_of(st.text(max_size=80), st.text("0123456789abcdef-", min_size=50, max_size=60)))
@example(VALID)
@example(VALID + "-x")
@example(f"01-{TRACE}-{SPAN}-01-x")
def test_what_is_taken_opentelemetry_takes_as_well(parent):
    ours = TraceContext.parse([parent])
    if ours is None:
        return
    theirs = get_current_span(TraceContextTextMapPropagator().extract({"traceparent": parent})).get_span_context()
    assert (theirs.trace_id, theirs.span_id) == (int(ours.trace_id, 16), int(ours.span_id, 16))


@given(st.lists(st.text(max_size=60), max_size=5))
def test_no_state_makes_it_fail_and_what_is_kept_is_printable(states):
    context = TraceContext.parse([VALID], states)
    assert context.state.isascii()
    assert context.state == "" or context.state.isprintable()


async def test_headers_are_those_of_the_task_and_of_what_it_starts():
    async def read():
        return trace_headers()

    assert trace_headers() == {}
    with carrying({"traceparent": VALID}):
        assert await asyncio.create_task(read()) == {"traceparent": VALID}
        assert await asyncio.to_thread(trace_headers) == {"traceparent": VALID}
        trace_headers()["traceparent"] = "changed"
        assert trace_headers() == {"traceparent": VALID}
    assert trace_headers() == {}
